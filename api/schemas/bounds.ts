import Joi from 'joi';

import { integer, orNull } from './fields.js';

/** Limits of a run, and dry_run: fields of every operation that finds and ingests files. */
export const boundFields = () => ({
  dry_run: orNull(Joi.boolean(), false),
  max_tokens: orNull(integer().min(0)),
});

import Joi from 'joi';

import { integer, orNull } from './fields.js';

/** What a run may take, or would: fields of every operation that finds files and brings them in. */
export const boundFields = () => ({
  dry_run: orNull(Joi.boolean(), false),
  max_tokens: orNull(integer().min(0)),
});

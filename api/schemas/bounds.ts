import Joi from 'joi';

import { integer, orNull } from './fields.js';
import { extension } from './reference.js';

/** Returns the fields `dry_run` and `max_tokens` of scrapes, crawls, and syncs of selected items. */
export const boundFields = () => ({
  dry_run: extension(
    orNull(Joi.boolean(), false).description(
      '`true`: estimate files, bytes, tokens, time and price of the run, and change nothing. The answer is the estimate. Null: `false`.',
    ),
  ),
  max_tokens: extension(
    orNull(integer().min(0)).description(
      'Maximum number of tokens that the run may embed. Before it would exceed them, the run pauses; `POST /sync_runs/{sync_run_id}/resume` resumes it. Absent or null: no limit.',
    ),
  ),
});

import Joi from 'joi';

import { HttpError, invalid, notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { pathId } from '../http/pathId.js';
import { integer, nullable } from '../schemas/fields.js';
import { named } from '../schemas/reference.js';

/** POST /sync_runs/{sync_run_id}/resume: resumes a run that reached its token limit, with another limit or none. */
export const resumeRun = operation({
  method: 'post',
  path: '/sync_runs/{sync_run_id}/resume',
  operationId: 'resume_sync_run',
  tag: 'Runs',
  auth: 'user',
  summary: 'Resume a paused run',
  description: [
    'Continues a run that is paused at its `max_tokens`, with a higher limit or without one. The event FILE_SYNC_LIMIT_REACHED reports such a pause, and `status` of the run is `paused`. The response shows the limit that applies; the files then continue as usual.\n\nA run that is not resumed within PAUSED_RUN_DAYS (default 30) ends, and its unfinished files become SYNC_ABORTED. If the request is repeated, only the first one has an effect.',
  ],
  returns: 'The token limit that applies from now on, and the tokens used so far.',
  errors: { 409: 'The run is not paused, so it cannot be resumed.' },
  body: named(
    'ResumeSyncRunRequest',
    Joi.object({
      max_tokens: nullable(integer().min(0))
        .required()
        .description(
          'New limit of the tokens that the run may embed in all, those before the pause included. It must be above `tokens_taken`. Null: no limit.',
        ),
    }).description('New token limit of a run that is paused at its `max_tokens`. Null removes the limit.'),
  ),
  answer: named(
    'ResumedSyncRun',
    Joi.object({
      id: integer().required().description('`id` of the run that continues: `sync_run_id` of the path.'),
      max_tokens: nullable(integer())
        .required()
        .description('Limit of the tokens that the run may embed in all, from now on. Null: no limit.'),
      tokens_taken: integer()
        .required()
        .description('Number of tokens (cl100k) that the run has used of its limit so far.'),
    }).description('A run that continues, with its new token limit and the tokens that it has used of it.'),
  ),
  async handle({ caller, params, body: { max_tokens: maxTokens }, deps: { store, dispatcher } }) {
    const run = await store.runs.findOf(caller, pathId(params, 'sync_run_id'));
    if (!run) throw notFound('run');
    const { _id: id, tokensTaken = 0, pause } = run;
    if (run.finishedAt !== null || !pause) throw new HttpError(409, 'The run is not paused, so it cannot be resumed.');
    // A limit that is already used up would pause the run again at once. The limit need not leave room for
    // `pause.wanted` tokens, because the next text may be shorter when the run continues.
    if (maxTokens !== null && maxTokens <= tokensTaken) {
      const sentence = `${tokensTaken} tokens are used, and the next text has ${pause.wanted}. Give a higher limit, or null`;
      throw invalid(['body', 'max_tokens'], sentence, 'greater_than');
    }
    // If the request is repeated, only the first one has an effect. The signal is not awaited: the new limit is stored,
    // and the sweeper sends a missed signal later.
    if (await store.pauses.resume(caller, id, maxTokens)) void dispatcher.signalResumed(run);
    const resumedRun = await store.runs.findOf(caller, id);
    return { id, max_tokens: resumedRun?.maxTokens ?? null, tokens_taken: resumedRun?.tokensTaken ?? tokensTaken };
  },
});

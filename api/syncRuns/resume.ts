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
  summary: 'Has a run go on that is paused at its max_tokens, with another bound, or with none.',
  description: [],
  body: named('ResumeSyncRunRequest', Joi.object({ max_tokens: nullable(integer().min(0)).required() })),
  answer: named(
    'ResumedSyncRun',
    Joi.object({
      id: integer().required(),
      max_tokens: nullable(integer()).required(),
      tokens_taken: integer().required(),
    }),
  ),
  async handle({ caller, params, body: { max_tokens: maxTokens }, deps: { store, dispatcher } }) {
    const run = await store.runs.findOf(caller, pathId(params, 'sync_run_id'));
    if (!run) throw notFound('run');
    const { _id: id, tokensTaken = 0, pause } = run;
    if (run.finishedAt !== null || !pause) throw new HttpError(409, 'The run is not paused, so it cannot be resumed.');
    // A lower limit would only pause the run again. `wanted` may change with the content of the site.
    if (maxTokens !== null && maxTokens <= tokensTaken) {
      const sentence = `${tokensTaken} tokens are used, and the next text has ${pause.wanted}. Give more, or null`;
      throw invalid(['body', 'max_tokens'], sentence, 'greater_than');
    }
    // If the request is repeated, the first one counts. Not awaited: the row is stored, and the sweeper sends missed
    // signals later.
    if (await store.pauses.resume(caller, id, maxTokens)) void dispatcher.signalResumed(run);
    const now = await store.runs.findOf(caller, id);
    return { id, max_tokens: now?.maxTokens ?? null, tokens_taken: now?.tokensTaken ?? tokensTaken };
  },
});

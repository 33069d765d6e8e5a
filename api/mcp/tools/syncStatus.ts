import Joi from 'joi';

import { listSyncRuns } from '../../syncRuns/list.js';
import type { presentRun } from '../../presenters/syncRun.js';
import { integer, nullable } from '../../schemas/fields.js';
import { firstThatFit } from '../bounds.js';
import { fileOfAgent } from '../readText.js';
import { limit, type Listed, more, record, stateFields } from '../schemas.js';
import { READS, tool } from '../tool.js';

/** States of runs that have not ended. */
const IN_PROGRESS = new Set(['queued', 'running', 'paused', 'stalled']);

const run = record({
  run_id: integer(),
  kind: Joi.string().description('What the run does, such as webScrape or syncUpload.'),
  status: Joi.string().description('queued, running, paused, stalled, finished, failed or aborted.'),
  message: nullable(Joi.string().allow('')).description('Why the run waits or failed.'),
  file_id: nullable(integer()).description('The file that the run is about.'),
  discovered: integer().description('Number of items that the run found.'),
  ok: integer(),
  failed: integer(),
  pending: integer(),
  accepted_at: Joi.string(),
  finished_at: nullable(Joi.string()),
});

const runOf = (presented: ReturnType<typeof presentRun>) => ({
  run_id: presented.id,
  kind: presented.kind,
  status: presented.status,
  message: presented.message,
  file_id: presented.file_id,
  discovered: presented.counts.discovered,
  ok: presented.counts.ok,
  failed: presented.counts.failed,
  pending: presented.counts.pending,
  accepted_at: presented.accepted_at,
  finished_at: presented.finished_at,
});

/** Shows whether syncs have ended. */
export const syncStatus = tool({
  name: 'sync_status',
  title: 'State of syncs',
  description:
    'Shows the latest syncs, of one file or of all, and whether they have ended. After add_url, upload_text or resync, call it every few seconds with the file id until is_done is true.',
  scope: 'read',
  annotations: READS,
  input: Joi.object({
    file_id: integer().description('Only the syncs of this file, and its state. Absent: the latest syncs of the user.'),
    limit: limit(10, 100),
    offset: integer().min(0).default(0).description('Number of latest syncs to skip.'),
  }),
  output: record({
    is_done: Joi.boolean().description('Whether none of these syncs is in progress.'),
    file: nullable(record(stateFields)).description('State of the file; null without file_id.'),
    runs: Joi.array().items(run).description('The latest first.'),
    count: integer().description('Number of all syncs that match.'),
    more: more(),
  }),
  async run({ file_id: fileId, limit: maxRuns, offset }, agent) {
    const file = fileId === undefined ? null : await fileOfAgent(agent, fileId);
    const answer = await agent.perform(listSyncRuns, {
      query: {
        limit: String(maxRuns),
        offset: String(offset),
        ...(fileId === undefined ? {} : { file_id: String(fileId) }),
      },
    });
    const { results, count } = answer as Listed<ReturnType<typeof presentRun>>;
    const runs = firstThatFit(results.map(runOf), agent.deps.settings.mcpMaxResultCharacters);
    const next = offset + runs.length;
    return {
      is_done: !results.some(({ status }) => IN_PROGRESS.has(status)),
      file: file && { status: file.syncStatus, error: file.syncErrorMessage },
      runs,
      count,
      more: next < count ? `Call sync_status again with offset ${next} for earlier syncs.` : null,
    };
  },
});

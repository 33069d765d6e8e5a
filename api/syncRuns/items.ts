import Joi from 'joi';

import { operation } from '../http/operation.js';
import { presentItem } from '../presenters/syncRun.js';
import { nullable } from '../schemas/fields.js';
import { itemRecord, itemsQuery } from '../schemas/syncRuns.js';
import { syncRunOf } from './syncRunOf.js';
import { named } from '../schemas/reference.js';

/** GET /sync_runs/{sync_run_id}/items: lists the results of a run for each of its items. */
export const listSyncRunItems = operation({
  method: 'get',
  path: '/sync_runs/{sync_run_id}/items',
  operationId: 'list_sync_run_items',
  tag: 'Runs',
  auth: 'either',
  summary: 'Lists what a run met, each with its outcome, stage, cause and remedy; page by page by a cursor.',
  description: [],
  query: itemsQuery,
  answer: named(
    'SyncRunItems',
    Joi.object({
      results: Joi.array().items(itemRecord).required(),
      next_cursor: nullable(Joi.string()).required(),
    }),
  ),
  async handle(call) {
    const run = await syncRunOf(call);
    const { store } = call.deps;
    const { limit, after = null, ...filter } = call.query;
    const found = await store.ledger.items(run, filter, after, limit + 1);
    const items = found.slice(0, limit);
    const workflowIds = await store.ledger.workflowIds(run);
    return {
      results: items.map((item) => presentItem(item, workflowIds.get(item.runId) ?? run.workflowId, call.deps)),
      next_cursor: found.length > limit ? (items.at(-1)?.id ?? null) : null,
    };
  },
});

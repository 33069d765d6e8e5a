import Joi from 'joi';

import { operation } from '../http/operation.js';
import { presentRunItem } from '../presenters/syncRun.js';
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
  summary: 'List the items of a run',
  description: [
    'Lists the result of a run for each of its items, with stage, cause and remedy. Use it to find out why files failed (`outcomes=failed`) before you call `POST /sync_runs/{sync_run_id}/retry`. It also works while the run is in progress.\n\nPages are read by a cursor: pass `next_cursor` as `after` until it is null. Runs that change tags, move vectors, aggregate statistics or connect an account have no items.',
  ],
  returns: 'One page of results, each with its cause and remedy, and the cursor of the next page.',
  query: itemsQuery,
  answer: named(
    'SyncRunItems',
    Joi.object({
      results: Joi.array()
        .items(itemRecord)
        .required()
        .description('Items of this page, in the order of their ids; empty after the last page.'),
      next_cursor: nullable(Joi.string())
        .required()
        .description('Cursor of the next page: send it as `after` in the next request. Null after the last page.'),
    }).description('One page of results of a run, and the cursor of the next page.'),
  ),
  async handle(call) {
    const run = await syncRunOf(call);
    const { store } = call.deps;
    const { limit, after = null, ...filter } = call.query;
    const found = await store.ledger.items(run, filter, after, limit + 1);
    const items = found.slice(0, limit);
    const workflowIds = await store.ledger.workflowIds(run);
    return {
      results: items.map((item) => presentRunItem(item, workflowIds.get(item.runId) ?? run.workflowId, call.deps)),
      next_cursor: found.length > limit ? (items.at(-1)?.id ?? null) : null,
    };
  },
});

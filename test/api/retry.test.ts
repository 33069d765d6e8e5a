import { expect, test } from '@jest/globals';

import { retrySyncRun } from '../../api/syncRuns/retry.js';
import { everyRow } from '../support/everyRow.js';

/** Number of failed files of a run, and the expected answer to a retry of all of them. */
const ROWS: [failed: number, queued: number, hasMore: boolean][] = [
  [1, 1, false],
  [500, 500, false],
  [999, 999, false],
  [1_000, 1_000, false],
  [1_001, 1_000, true],
  [1_500, 1_000, true],
];

test('a retry queues at most 1,000 files, and says whether files remain', () =>
  everyRow(
    ROWS,
    ([failed]) => String(failed),
    async ([failed, queued, hasMore]) => {
      const ids = Array.from({ length: failed }, (_, nth) => nth + 1);
      const run = { _id: 5, organizationId: 1, userId: 2, dataSourceId: null };
      const store = {
        users: { find: async () => ({ organizationId: 1, userId: 2 }) },
        ledger: {
          items: async (_run: unknown, _filter: unknown, after: string | null, limit: number) =>
            ids
              .filter((id) => id > Number(after ?? 0))
              .slice(0, limit)
              .map((id) => ({ id: String(id), fileId: id })),
        },
        files: {
          retryable: async (_tenant: unknown, fileIds: readonly number[]) => fileIds,
          retry: async (_tenant: unknown, fileIds: readonly number[]) => fileIds.length,
        },
        runs: { nextId: async () => 6, accept: async () => undefined, findInScope: async () => run },
      };
      const unit = { transaction: (work: (session: null) => Promise<number>) => work(null), start: () => undefined };
      const deps = { store, unit, workflowLink: () => ({}) };
      const call = { body: {}, params: { sync_run_id: '5' }, caller: { organizationId: 1, userId: 2 }, deps };
      const answer = await retrySyncRun.handle(call as never);
      expect(answer).toMatchObject({ queued, has_more: hasMore });
    },
  ));

test('a retry that names more than 1,000 files is refused: repeating it would not reach the others', async () => {
  const run = { _id: 5, organizationId: 1, userId: 2, dataSourceId: null };
  const numbers = (first: number) => Array.from({ length: 600 }, (_, nth) => first + nth);
  const store = {
    users: { find: async () => ({ organizationId: 1, userId: 2 }) },
    ledger: {
      processed: async (_run: unknown, { fileIds, itemIds }: { fileIds: number[]; itemIds: string[] }) =>
        [...fileIds, ...itemIds].map(String),
    },
    files: { retry: async (_tenant: unknown, fileIds: readonly number[]) => fileIds.length },
    runs: { nextId: async () => 6, accept: async () => undefined, findInScope: async () => run },
  };
  const unit = { transaction: (work: (session: null) => Promise<number>) => work(null), start: () => undefined };
  const deps = { store, unit, workflowLink: () => ({}) };
  const retry = async (file_ids: number[]) => {
    const item_ids = numbers(1).map((id) => `f:${String(id).padStart(16, '0')}`);
    const call = { body: { file_ids, item_ids }, params: { sync_run_id: '5' }, caller: { organizationId: 1 }, deps };
    return retrySyncRun.handle(call as never);
  };
  expect(await retry(numbers(1))).toMatchObject({ queued: 600, has_more: false });
  await expect(retry(numbers(601))).rejects.toMatchObject({ status: 422 });
});

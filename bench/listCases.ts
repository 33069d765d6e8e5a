/** Measured pages: each order without a filter, and each filter in every order. */
import { FILE_ORDERS, type FileFilters, type FileOrder } from '../contract/files/fileFilters.js';
import type { Seeded } from './seedLists.js';

export const OFFSET = 1_000;
export const PAGE = 20;

export interface ListCase {
  readonly of: 'files' | 'chunks';
  readonly name: string;
  /** The filters in the format of the API; `filters` has them in the format of the store. */
  readonly wire: Record<string, unknown>;
  readonly filters: FileFilters;
  readonly orders: readonly FileOrder[];
  /** Whether no index supports the filter. Then only the ratio to the MongoDB driver has a target, not the time. */
  readonly ratioOnly: boolean;
}

export function listCases({ firstId, parents }: Seeded): ListCase[] {
  const ids = Array.from({ length: 2_000 }, (_, index) => firstId + index * 3);
  const tag = { AND: [{ key: 'team', value: 'team-7' }] };
  const either = { OR: ['team-7', 'team-8'].map((value) => ({ key: 'team', value })) };
  const negated = { AND: [{ key: 'team', value: 'team-7', negate: true }] };
  const url = 'https://bench.example/0/0.html';
  const lastTen = parents.slice(-10);
  const filters: readonly (readonly [string, Record<string, unknown>, FileFilters, boolean?])[] = [
    ['sync_statuses: 93 %', { sync_statuses: ['READY'] }, { syncStatuses: ['READY'] }],
    ['sync_statuses: 5 %', { sync_statuses: ['SYNC_ERROR'] }, { syncStatuses: ['SYNC_ERROR'] }],
    ['sync_statuses: 2 %', { sync_statuses: ['SYNC_ABORTED'] }, { syncStatuses: ['SYNC_ABORTED'] }],
    ['source: all', { source: 'WEB_SCRAPE' }, { sources: ['WEB_SCRAPE'] }],
    ['ids: 2,000', { ids }, { ids }],
    ['parent_file_ids: 3 %', { parent_file_ids: parents.slice(0, 3) }, { parentFileIds: parents.slice(0, 3) }],
    ['parent_file_ids: the last 10 %', { parent_file_ids: lastTen }, { parentFileIds: lastTen }],
    ['tags: 50 %', { tags: { half: true } }, { tags: { half: true } }],
    ['tags: 10 %', { tags: { tenth: true } }, { tags: { tenth: true } }],
    ['tags: 1 %', { tags: { team: 'team-7' } }, { tags: { team: 'team-7' } }],
    ['tags_v2: AND, 1 %', { tags_v2: tag }, { tagTree: tag }],
    ['tags_v2: OR, 2 %', { tags_v2: either }, { tagTree: either }],
    ['request_ids: 1 %', { request_ids: ['request-3'] }, { requestIds: ['request-3'] }],
    ['organization_user_data_source_id: 1 %', { organization_user_data_source_id: [1] }, { dataSourceIds: [1] }],
    ['embedding_generators: all', { embedding_generators: ['OPENAI'] }, { embeddingModels: ['OPENAI'] }],
    ['include_containers: 99.9 %', { include_containers: false }, { includeContainers: false }],
    ['non_synced_only: 7 %', { non_synced_only: true }, { nonSyncedOnly: true }],
    ['root_files_only: 0.1 %', { root_files_only: true }, { rootFilesOnly: true }],
    ['external_urls: one', { external_urls: [url] }, { externalUrls: [url] }],
    ['external_file_ids: one', { external_file_ids: [url] }, { externalFileIds: [url] }],
    ['name, a substring', { name: '123' }, { name: '123' }, true],
    ['tags_v2, negated', { tags_v2: negated }, { tagTree: negated }, true],
  ];
  return (['files', 'chunks'] as const).flatMap((of) => [
    ...FILE_ORDERS.map((order) => ({
      ...{ of, name: `all, by ${order}`, wire: {}, filters: {}, orders: [order], ratioOnly: false },
    })),
    ...filters.map(([name, wire, stored, ratioOnly = false]) => ({
      ...{ of, name, wire, filters: stored, orders: FILE_ORDERS, ratioOnly },
    })),
  ]);
}

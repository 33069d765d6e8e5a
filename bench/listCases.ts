/** The pages that are measured: each order, and each filter that an index backs. */
import { FILE_ORDERS, type FileFilters, type FileOrder } from '../contract/fileFilters.js';
import { ORDER_FIELDS } from '../store/files/queries.js';
import type { Seeded } from './seedLists.js';

export const OFFSET = 1_000;
export const PAGE = 20;

export interface ListCase {
  readonly of: 'files' | 'chunks';
  readonly name: string;
  /** As the API takes them, and as the store does. */
  readonly wire: Record<string, unknown>;
  readonly filters: FileFilters;
  readonly order: FileOrder;
  /** The order's field in MongoDB. */
  readonly field: string;
  /** No index can help: only the ratio counts. */
  readonly boundless: boolean;
}

export function listCases({ firstId, parents }: Seeded): ListCase[] {
  const ids = Array.from({ length: 2_000 }, (_, index) => firstId + index * 3);
  const tag = { AND: [{ key: 'team', value: 'team-7' }] };
  const negated = { AND: [{ key: 'team', value: 'team-7', negate: true }] };
  const filters: readonly (readonly [string, Record<string, unknown>, FileFilters, boolean?])[] = [
    ['sync_statuses', { sync_statuses: ['READY'] }, { syncStatuses: ['READY'] }],
    ['a rare status', { sync_statuses: ['SYNC_ABORTED'] }, { syncStatuses: ['SYNC_ABORTED'] }],
    ['source', { source: 'WEB_SCRAPE' }, { sources: ['WEB_SCRAPE'] }],
    ['ids', { ids }, { ids }],
    ['parent_file_ids', { parent_file_ids: parents.slice(0, 3) }, { parentFileIds: parents.slice(0, 3) }],
    ['tags', { tags: { team: 'team-7' } }, { tags: { team: 'team-7' } }],
    ['tags_v2', { tags_v2: tag }, { tagTree: tag }],
    ['request_ids', { request_ids: ['request-3'] }, { requestIds: ['request-3'] }],
    ['organization_user_data_source_id', { organization_user_data_source_id: [1] }, { dataSourceIds: [1] }],
    ['embedding_generators', { embedding_generators: ['OPENAI'] }, { embeddingModels: ['OPENAI'] }],
    ['include_containers', { include_containers: false }, { includeContainers: false }],
    ['non_synced_only', { non_synced_only: true }, { nonSyncedOnly: true }],
    ['root_files_only', { root_files_only: true }, { rootFilesOnly: true }],
    [
      'external_urls',
      { external_urls: ['https://bench.example/0/0.html'] },
      { externalUrls: ['https://bench.example/0/0.html'] },
    ],
    [
      'external_file_ids',
      { external_file_ids: ['https://bench.example/0/0.html'] },
      { externalFileIds: ['https://bench.example/0/0.html'] },
    ],
    ['name', { name: '123' }, { name: '123' }, true],
    ['negated tag', { tags_v2: negated }, { tagTree: negated }, true],
  ];
  return (['files', 'chunks'] as const).flatMap((of) => [
    ...FILE_ORDERS.map((order) => ({
      of,
      name: `by ${order}`,
      wire: {},
      filters: {},
      order,
      field: ORDER_FIELDS[order],
      boundless: false,
    })),
    ...filters.map(([name, wire, stored, boundless = false]) => ({
      of,
      name,
      wire,
      filters: stored,
      order: 'updated_at' as const,
      field: ORDER_FIELDS.updated_at,
      boundless,
    })),
  ]);
}

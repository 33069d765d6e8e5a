/** How the work of a user stands, as the public API tells it. */
import type { FileRecord } from '../contract/records.js';
import {
  type FileSyncStatus,
  FINAL_FILE_STATUSES,
  UNDER_WAY_STATUSES,
  WAITING_FILE_STATUSES,
} from '../contract/statuses.js';
import type { Api } from './api.js';
import { bar } from './bars.js';

const IN_MOTION = [...WAITING_FILE_STATUSES, ...UNDER_WAY_STATUSES];
const FAILED = ['SYNC_ERROR', 'SYNC_ABORTED'] as const satisfies FileSyncStatus[];

interface Listed {
  readonly results: FileRecord[];
  readonly count: number;
}

const listed = (api: Api, customer: string, filters: object, more: object = {}): Promise<Listed> =>
  api.post<Listed>('/user_files_v2', { filters, ...more }, customer);

const counted = async (api: Api, customer: string, filters: object): Promise<number> =>
  (await listed(api, customer, filters, { pagination: { limit: 1 } })).count;

/** A sitemap, crawl or feed and what came of its pages. */
export interface Bundle {
  readonly file: FileRecord;
  readonly ready: number;
  readonly failed: number;
  /** As far as it is known by now. */
  readonly total: number;
}

export async function bundleOf(api: Api, customer: string, file: FileRecord): Promise<Bundle> {
  const below = { parent_file_ids: [file.id] };
  const [ready, failed, all] = await Promise.all([
    counted(api, customer, { ...below, sync_statuses: ['READY', 'READY_TO_SYNC'] }),
    counted(api, customer, { ...below, sync_statuses: FAILED }),
    counted(api, customer, below),
  ]);
  return { file, ready, failed, total: Math.max(all, Number(file.file_metadata?.['pages_total'] ?? 0)) };
}

export interface UserWork {
  readonly customer_id: string;
  readonly ready: number;
  readonly in_motion: number;
  readonly failed: number;
  readonly bundles: readonly Bundle[];
  /** The latest that failed, with why. */
  readonly failures: readonly FileRecord[];
}

/** @param most bundles and failures shown */
export async function workOf(api: Api, customer: string, most: number): Promise<UserWork> {
  const latest = { pagination: { limit: most }, order_by: 'updated_at', order_dir: 'desc' };
  const [ready, inMotion, failed, moving] = await Promise.all([
    counted(api, customer, { sync_statuses: ['READY', 'READY_TO_SYNC'] }),
    counted(api, customer, { sync_statuses: IN_MOTION }),
    listed(api, customer, { sync_statuses: FAILED }, latest),
    listed(api, customer, { sync_statuses: IN_MOTION, root_files_only: true, include_containers: true }, latest),
  ]);
  const bundles = await Promise.all(moving.results.map((file) => bundleOf(api, customer, file)));
  return {
    customer_id: customer,
    ready,
    in_motion: inMotion,
    failed: failed.count,
    bundles,
    failures: failed.results,
  };
}

/** Files whose name holds some text, or of an id. */
export const findFiles = async (api: Api, customer: string, wanted: string, limit: number): Promise<FileRecord[]> =>
  (
    await listed(
      api,
      customer,
      { include_containers: true, ...(/^\d{1,15}$/.test(wanted) ? { ids: [Number(wanted)] } : { name: wanted }) },
      { pagination: { limit }, order_by: 'updated_at', order_dir: 'desc' },
    )
  ).results;

export const nameOf = ({ name, external_url, external_file_id }: FileRecord): string =>
  name ?? external_url ?? external_file_id;

/** A line with a bar; what has no pages below it has none. */
export const bundleLine = ({ file, ready, failed, total }: Bundle): string =>
  `  ${total > 0 ? `${bar(ready + failed, total)} · ${failed} failed · ` : ''}${file.sync_status} · file ${file.id} · ${nameOf(file)}`;

export const isAtRest = ({ sync_status }: FileRecord): boolean =>
  (FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(sync_status);

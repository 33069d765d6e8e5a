/** Progress of a user's work, as returned by the public API. */
import type { FileRecord } from '../contract/files/records.js';
import {
  type FileSyncStatus,
  FINAL_FILE_STATUSES,
  IN_PROGRESS_STATUSES,
  WAITING_FILE_STATUSES,
} from '../contract/files/statuses.js';
import type { Api } from './api.js';
import { bar } from './bars.js';

const ACTIVE_STATUSES = [...WAITING_FILE_STATUSES, ...IN_PROGRESS_STATUSES];
const FAILED = ['SYNC_ERROR', 'SYNC_ABORTED'] as const satisfies FileSyncStatus[];

interface Listed {
  readonly results: FileRecord[];
  readonly count: number;
}

const listFiles = (api: Api, customer: string, filters: object, options: object = {}): Promise<Listed> =>
  api.post<Listed>('/user_files_v2', { filters, ...options }, customer);

const countFiles = async (api: Api, customer: string, filters: object): Promise<number> =>
  (await listFiles(api, customer, filters, { pagination: { limit: 1 } })).count;

/** A file with the number of its pages by result: a sitemap, crawl or feed has pages. */
export interface FileProgress {
  readonly file: FileRecord;
  readonly ready: number;
  readonly failed: number;
  /** The number of pages that were found so far. */
  readonly total: number;
}

/** Counts the child files of a file by state. */
export async function progressOf(api: Api, customer: string, file: FileRecord): Promise<FileProgress> {
  const children = { parent_file_ids: [file.id] };
  const [ready, failed, all] = await Promise.all([
    countFiles(api, customer, { ...children, sync_statuses: ['READY', 'READY_TO_SYNC'] }),
    countFiles(api, customer, { ...children, sync_statuses: FAILED }),
    countFiles(api, customer, children),
  ]);
  return { file, ready, failed, total: Math.max(all, Number(file.file_metadata?.['pages_total'] ?? 0)) };
}

export interface UserWork {
  readonly customer_id: string;
  readonly ready: number;
  readonly in_progress: number;
  readonly failed: number;
  /** The files without a parent that are waiting or in progress, the latest first. */
  readonly active_files: readonly FileProgress[];
  /** The latest failed files, with their error messages. */
  readonly failures: readonly FileRecord[];
}

/** Reads the progress of a user. @param max maximum number of files in progress and of failures */
export async function workOf(api: Api, customer: string, max: number): Promise<UserWork> {
  const latest = { pagination: { limit: max }, order_by: 'updated_at', order_dir: 'desc' };
  const [ready, unfinished, failed, activeRoots] = await Promise.all([
    countFiles(api, customer, { sync_statuses: ['READY', 'READY_TO_SYNC'] }),
    countFiles(api, customer, { sync_statuses: ACTIVE_STATUSES }),
    listFiles(api, customer, { sync_statuses: FAILED }, latest),
    listFiles(
      api,
      customer,
      { sync_statuses: ACTIVE_STATUSES, root_files_only: true, include_containers: true },
      latest,
    ),
  ]);
  const activeFiles = await Promise.all(activeRoots.results.map((file) => progressOf(api, customer, file)));
  return {
    customer_id: customer,
    ready,
    in_progress: unfinished,
    failed: failed.count,
    active_files: activeFiles,
    failures: failed.results,
  };
}

/** Finds files by id or by a part of their name. */
export const findFiles = async (api: Api, customer: string, nameOrId: string, limit: number): Promise<FileRecord[]> =>
  (
    await listFiles(
      api,
      customer,
      { include_containers: true, ...(/^\d{1,15}$/.test(nameOrId) ? { ids: [Number(nameOrId)] } : { name: nameOrId }) },
      { pagination: { limit }, order_by: 'updated_at', order_dir: 'desc' },
    )
  ).results;

export const nameOf = ({ name, external_url, external_file_id }: FileRecord): string =>
  name ?? external_url ?? external_file_id;

/** Formats the progress of a file as a line, with a progress bar if it has pages. */
export const progressLine = ({ file, ready, failed, total }: FileProgress): string =>
  `  ${total > 0 ? `${bar(ready + failed, total)} · ${failed} failed · ` : ''}${file.sync_status} · file ${file.id} · ${nameOf(file)}`;

export const isSettled = ({ sync_status }: FileRecord): boolean =>
  (FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(sync_status);

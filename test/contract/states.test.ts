import { describe, expect, test } from '@jest/globals';

import { operations } from '../../api/routes.js';
import { notBuiltOperations } from '../../api/notBuilt.js';
import { RUN_KINDS, type RunKind } from '../../contract/orchestration.js';
import {
  DATA_SOURCE_ACTIONS,
  DATA_SOURCE_SYNC_STATUSES,
  type DataSourceAction,
  type DataSourceSyncStatus,
  EMBEDDING_STORAGE_STATUSES,
  type EmbeddingStorageStatus,
  FILE_SYNC_STATUSES,
  type FileSyncStatus,
} from '../../contract/statuses.js';

/**
 * What brings a record into a state: a kind of run, an operation that writes it at once, or the issue that will. Runs and
 * operations must exist; the rows of later issues are replaced by theirs, and none is left after the last.
 */
type Way = { readonly run: RunKind } | { readonly operation: string } | { readonly later: Later };
type Later = 'limits' | 'documents' | 'vectors' | 'connect' | 'auto-sync';

const FILE: Record<FileSyncStatus, readonly Way[]> = {
  QUEUED_FOR_SYNC: [
    { operation: 'POST /scrape_sitemap' },
    { operation: 'POST /resync_file' },
    { run: 'scrapeSitemap' },
  ],
  SYNCING: [{ run: 'scrapeSitemap' }, { run: 'resyncFile' }],
  READY: [{ run: 'scrapeSitemap' }, { run: 'resyncFile' }],
  SYNC_ERROR: [{ run: 'scrapeSitemap' }, { run: 'resyncFile' }],
  SYNC_ABORTED: [
    { run: 'scrapeSitemap' },
    { run: 'resyncFile' },
    { run: 'deleteFiles' },
    { operation: 'POST /revoke_access_token' },
  ],
  READY_TO_SYNC: [{ run: 'resyncFile' }, { run: 'deleteFiles' }],
  DELAYED: [{ later: 'limits' }],
  RATE_LIMITED: [{ later: 'connect' }],
  EVALUATING_RESYNC: [{ later: 'auto-sync' }],
  QUEUED_FOR_OCR: [{ later: 'documents' }],
};
const DATA_SOURCE: Record<DataSourceSyncStatus, readonly Way[]> = {
  READY: [{ later: 'connect' }],
  QUEUED_FOR_SYNCING: [{ later: 'connect' }],
  SYNCING: [{ later: 'connect' }],
  SYNC_ERROR: [{ later: 'connect' }],
};
const STORAGE: Record<EmbeddingStorageStatus, readonly Way[]> = {
  HOT_STORAGE: [{ run: 'scrapeSitemap' }],
  HOT_TO_COLD: [{ later: 'vectors' }],
  COLD_STORAGE: [{ later: 'vectors' }],
  COLD_TO_HOT: [{ later: 'vectors' }],
};
const ACTION: Record<DataSourceAction, readonly Way[]> = {
  ADD: [{ later: 'connect' }],
  UPDATE: [{ later: 'connect' }],
  CANCEL: [{ later: 'connect' }],
  REVOKE: [{ operation: 'POST /revoke_access_token' }],
};

const TABLES = [
  ['file', FILE, FILE_SYNC_STATUSES],
  ['data source', DATA_SOURCE, DATA_SOURCE_SYNC_STATUSES],
  ['storage', STORAGE, EMBEDDING_STORAGE_STATUSES],
  ['action', ACTION, DATA_SOURCE_ACTIONS],
] as const;

/** States that wait for an issue: shrinks, and is empty after the last one. */
const WAITING: Record<string, readonly string[]> = {
  file: ['DELAYED', 'EVALUATING_RESYNC', 'QUEUED_FOR_OCR', 'RATE_LIMITED'],
  'data source': ['QUEUED_FOR_SYNCING', 'READY', 'SYNCING', 'SYNC_ERROR'],
  storage: ['COLD_STORAGE', 'COLD_TO_HOT', 'HOT_TO_COLD'],
  action: ['ADD', 'CANCEL', 'UPDATE'],
};

const built = operations
  .filter((one) => !notBuiltOperations.includes(one))
  .map(({ method, path }) => `${method.toUpperCase()} ${path}`);

describe.each(TABLES)('%s states', (name, table, states) => {
  const rows = Object.entries(table as Record<string, readonly Way[]>);

  test('each has at least one way into it, and the table has no other', () => {
    expect(rows.map(([state]) => state).toSorted()).toEqual([...states].toSorted());
    expect(rows.filter(([, ways]) => ways.length === 0)).toEqual([]);
  });
  test('runs and operations that are named exist', () => {
    for (const [, ways] of rows) {
      for (const way of ways) {
        if ('run' in way) expect(RUN_KINDS).toContain(way.run);
        if ('operation' in way) expect(built).toContain(way.operation);
      }
    }
  });
  test('just these wait for a later issue', () => {
    const waiting = rows.filter(([, ways]) => ways.every((way) => 'later' in way)).map(([state]) => state);
    expect(waiting.toSorted()).toEqual(WAITING[name]);
  });
});

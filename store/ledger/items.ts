import { createHash } from 'node:crypto';

import { endedAs, type ItemEnd } from '../../contract/runs/ledger.js';
import type { FileSyncStatus } from '../../contract/files/statuses.js';
import type { FileDoc } from '../models/files.js';
import type { Tenant } from '../users/accept.js';
import type { LedgerItemDoc } from '../models/ledger.js';

/** Ids of nine quadrillions: what JSON numbers hold. */
const DIGITS = 16;
const padded = (id: number): string => String(id).padStart(DIGITS, '0');

/** The first and the last key that an item of a run can have. */
export const keysOf = (runId: number): { readonly first: string; readonly last: string } => ({
  first: `${padded(runId)}:`,
  last: `${padded(runId)};`,
});
/** By file, else by its name at its source: those come last. */
export const itemKey = (runId: number, of: { readonly fileId: number } | { readonly externalId: string }): string =>
  'fileId' in of
    ? `${padded(runId)}:${padded(of.fileId)}`
    : `${padded(runId)}:x${createHash('sha256').update(of.externalId).digest('base64url')}`;
/** Parses the run id of a key; null if it is invalid. */
export const runOfKey = (key: string): number | null => {
  const id = /^(\d+):/.exec(key)?.[1];
  return id === undefined ? null : Number(id);
};
/** The file of a key; null of an item without one. */
export const fileOfKey = (key: string): number | null => {
  const id = /:(\d+)$/.exec(key)?.[1];
  return id === undefined ? null : Number(id);
};

/** An item with its run and its owner. */
export interface RunOf extends Tenant {
  readonly _id: number;
}

/** What of a file its line in the ledger holds. */
export const LINE_FIELDS = {
  ...({ organizationId: 1, userId: 1, runId: 1, externalFileId: 1, name: 1, syncStatus: 1 } as const),
  ...({ syncErrorMessage: 1, ended: 1, updatedAt: 1 } as const),
};

/** A file whose worker died before it wrote how the file ended says so by its status alone. */
const BY_STATUS: Partial<Record<FileSyncStatus, ItemEnd>> = {
  READY: endedAs('ok', null, null),
  SYNC_ERROR: endedAs('failed', null, null),
  SYNC_ABORTED: endedAs('aborted', 'queue', 'cancelled'),
  READY_TO_SYNC: endedAs('skipped', 'select', 'skip_file_processing'),
};
export const endOf = ({ ended = null, syncStatus }: Pick<FileDoc, 'ended' | 'syncStatus'>): ItemEnd | null =>
  ended ?? BY_STATUS[syncStatus] ?? null;

const LONGEST_NAME = 500;
/** Longer than any address that is taken. */
const LONGEST_ID = 2_048;

/** An item as it is written. */
export interface NewItem {
  readonly fileId: number | null;
  readonly externalId: string;
  readonly name: string | null;
  readonly end: ItemEnd;
  readonly message: string | null;
}

/** Returns the ledger row of an item that ended. */
export function rowOf(run: RunOf, { fileId, externalId, name, end, message }: NewItem, at: Date, expiresAt: Date) {
  const { as, stage, cause, bytes, tokens, reused } = end;
  return {
    _id: itemKey(run._id, fileId === null ? { externalId } : { fileId }),
    organizationId: run.organizationId,
    userId: run.userId,
    runId: run._id,
    fileId,
    externalId: externalId.slice(0, LONGEST_ID),
    name: name === externalId ? null : (name?.slice(0, LONGEST_NAME) ?? null),
    ...{ outcome: as, stage, cause, message, bytes, tokens, reused, at, expiresAt },
  } satisfies LedgerItemDoc;
}

import { createHash } from 'node:crypto';

import { itemEnd, type FileWarning, isWarning, type ItemEnd } from '../../contract/runs/ledger.js';
import type { FileSyncStatus } from '../../contract/files/statuses.js';
import type { FileDoc } from '../models/files.js';
import type { Tenant } from '../users/accept.js';
import type { LedgerItemDoc } from '../models/ledger.js';

/** Digits of a padded id. They cover all integers that JSON numbers represent exactly. */
const ID_DIGITS = 16;
const padded = (id: number): string => String(id).padStart(ID_DIGITS, '0');

/** Returns bounds of the keys of a run's items. */
export const keysOf = (runId: number): { readonly first: string; readonly last: string } => ({
  first: `${padded(runId)}:`,
  last: `${padded(runId)};`,
});
/** Returns the key of an item: by its file, or by a hash of its external id. Items without a file sort last. */
export const itemKey = (runId: number, of: { readonly fileId: number } | { readonly externalId: string }): string =>
  'fileId' in of
    ? `${padded(runId)}:${padded(of.fileId)}`
    : `${padded(runId)}:x${createHash('sha256').update(of.externalId).digest('base64url')}`;
/** Parses the run id of a key; null if it is invalid. */
export const runOfKey = (key: string): number | null => {
  const id = /^(\d+):/.exec(key)?.[1];
  return id === undefined ? null : Number(id);
};
/** Parses the file id of a key; null for an item without a file. */
export const fileOfKey = (key: string): number | null => {
  const id = /:(\d+)$/.exec(key)?.[1];
  return id === undefined ? null : Number(id);
};

/** A run and its owner. */
export interface OwnedRun extends Tenant {
  readonly _id: number;
}

/** Fields of a file that its ledger entry needs. */
export const ENTRY_FIELDS = {
  ...({ organizationId: 1, userId: 1, runId: 1, externalFileId: 1, name: 1, syncStatus: 1 } as const),
  ...({ syncErrorMessage: 1, ended: 1, updatedAt: 1, 'fileMetadata.warnings': 1 } as const),
};

/** Returns the message of a file's item: why it failed, or the warning with which it ended. */
export function messageOf({
  syncErrorMessage,
  ended = null,
  fileMetadata,
}: Pick<FileDoc, 'syncErrorMessage' | 'ended'> & Partial<Pick<FileDoc, 'fileMetadata'>>): string | null {
  if (syncErrorMessage !== null || !isWarning(ended?.cause ?? null)) return syncErrorMessage;
  const warnings = (fileMetadata?.['warnings'] ?? []) as readonly FileWarning[];
  return warnings.find(({ cause }) => cause === ended?.cause)?.message ?? null;
}

/** Outcome by status, for a file without a stored outcome. */
const BY_STATUS: Partial<Record<FileSyncStatus, ItemEnd>> = {
  READY: itemEnd('ok', null, null),
  SYNC_ERROR: itemEnd('failed', null, null),
  SYNC_ABORTED: itemEnd('aborted', 'queue', 'cancelled'),
  READY_TO_SYNC: itemEnd('skipped', 'select', 'skip_file_processing'),
};
export const endOf = ({ ended = null, syncStatus }: Pick<FileDoc, 'ended' | 'syncStatus'>): ItemEnd | null =>
  ended ?? BY_STATUS[syncStatus] ?? null;

const MAX_NAME_LENGTH = 500;
/** Longer than any accepted address. */
const MAX_ID_LENGTH = 2_048;

/** The fields of a new ledger entry. */
export interface NewItem {
  readonly fileId: number | null;
  readonly externalId: string;
  readonly name: string | null;
  readonly end: ItemEnd;
  readonly message: string | null;
}

/** Returns the ledger row of an item that ended. */
export function rowOf(run: OwnedRun, { fileId, externalId, name, end, message }: NewItem, at: Date, expiresAt: Date) {
  const { as, stage, cause, bytes, tokens, reused } = end;
  return {
    _id: itemKey(run._id, fileId === null ? { externalId } : { fileId }),
    organizationId: run.organizationId,
    userId: run.userId,
    runId: run._id,
    fileId,
    externalId: externalId.slice(0, MAX_ID_LENGTH),
    name: name === externalId ? null : (name?.slice(0, MAX_NAME_LENGTH) ?? null),
    ...{ outcome: as, stage, cause, message, bytes, tokens, reused, at, expiresAt },
  } satisfies LedgerItemDoc;
}

/** A file with a value in every field that a change may reset, and a check of what a change writes. */
import { expect } from '@jest/globals';
import mongoose, { type Connection, type Model } from 'mongoose';

import { DEFAULT_INGEST_OPTIONS } from '../../../contract/files/ingestOptions.js';
import { storedTags, tagPairs } from '../../../contract/files/tags.js';
import { itemEnd } from '../../../contract/runs/ledger.js';
import { createMoves } from '../../../store/coldStorage/moves.js';
import { createFileChanges } from '../../../store/files/changes.js';
import { createFileCommands } from '../../../store/files/commands.js';
import { createFileDeletion } from '../../../store/files/deletion.js';
import { createFileEvaluation } from '../../../store/files/evaluate.js';
import { createMissingPages } from '../../../store/files/missingPages.js';
import { createFileReembedding } from '../../../store/files/reembed.js';
import { createFileRetry } from '../../../store/files/retry.js';
import { createFileTags } from '../../../store/files/tags.js';
import { type FileDoc, fileModel } from '../../../store/models/files.js';
import { userModel } from '../../../store/models/users.js';
import { everyRow } from '../../support/everyRow.js';
import { ADA, AGO, dropDatabase, openDatabase, seed, STRANGERS, withoutTransaction } from './writes.js';

const DAY_MS = 86_400_000;
export const [RUN, OTHER_RUN, NEXT_RUN] = [71, 72, 73];
export const COST = { millis: 1, bytes: 2, tokens: 3, reused: 4 } as never;
const ORIGINAL = { id: 3, hash: 'h' } as never;
const [OWN, OF_SOURCE] = [storedTags({ own: 'x' }), storedTags({ team: 'red' })];
export const MOVE = { ...ADA, runId: 9, token: 'try', requestId: 'move', workflowId: 'moving' };
export const OLD: Partial<FileDoc> = {
  ...{ generation: 3, lastGeneration: 5, numChunks: 4, statistics: { numEmbeddings: 1 } as never, vectorSpace: 's' },
  ...{ dimensions: 3, hasContent: true, hasText: true, rawHash: 'raw', etag: 'e', lastModified: 'l', version: 'v1' },
  ...{ listedVersion: 'v2', processedAs: 'p', syncErrorMessage: 'old', lastSync: AGO, attempts: 2, notBefore: AGO },
  ...{ unfinishedStarts: 3, ocrPages: [4], ocrJobStartedAt: AGO, ended: itemEnd('failed', 'fetch', 'timed_out') },
  ...{ goneBy: 99, restoredAt: AGO, tags: OWN, sourceTags: OF_SOURCE, sourceTagsVersion: 1, tagsRevision: 6 },
  ...{ tagPairs: tagPairs([...OF_SOURCE, ...OWN]), requestId: 'r1', keptRequestId: 'r0', workflowId: 'w', runId: RUN },
  ...{ fileMetadata: { a: 1, b: 2 }, supportsColdStorage: true, hotStorageTimeToLive: 2, coolsAt: AGO, move: null },
  ...{ embeddingStorageStatus: 'HOT_STORAGE', coldCopy: { key: 'k', generation: 3, points: 1, bytes: 1 } },
  ...{ original: ORIGINAL, callerChunks: ORIGINAL, crashes: { hash: 'raw', count: 1 }, cleanupPending: false },
  ...{ fileContentsDeleted: true, dataSourceId: 40, accountId: 40, uploadId: 'u', name: 'old', sparseQueuedBy: 1 },
  ...{ options: { ...DEFAULT_INGEST_OPTIONS, skipFileProcessing: true }, deletionsApproved: false },
};
export const EVALUATED = { syncStatus: 'EVALUATING_RESYNC' } as const;
export const SYNCING = { syncStatus: 'SYNCING' } as const;
export const QUEUED = { syncStatus: 'QUEUED_FOR_SYNC' } as const;
export const READY = { syncStatus: 'READY' } as const;
export const MOVING = { ...READY, move: { runId: 9, token: 'try' } };
/** The end of an attempt, with any outcome. */
export const ATTEMPT_ENDED = { unfinishedStarts: 0, notBefore: null, ocrPages: null };
export const RESET = { attempts: 0, unfinishedStarts: 0, notBefore: null, ended: null };
export const NOW = { updatedAt: 'now' };

export type FileStores = ReturnType<typeof createStores>;
function createStores(connection: Connection) {
  const files = fileModel(connection);
  const events = { write: () => Promise.resolve() } as never;
  const intents = {
    withPendingEvents: async (_events: unknown, change: (mark: mongoose.mongo.ObjectId) => Promise<unknown>) =>
      void (await change(new mongoose.mongo.ObjectId())),
  } as never;
  const ledger = { recordOutcomes: () => Promise.resolve(), addItems: () => Promise.resolve() } as never;
  const changes = createFileChanges(files, withoutTransaction, events, intents, () => undefined);
  const users = userModel(connection);
  return {
    files,
    close: () => dropDatabase(connection),
    ...createFileCommands(files, changes),
    ...createFileEvaluation(files, changes),
    ...createFileDeletion({ files, users, queries: null as never, atomically: withoutTransaction, events, ledger }),
    ...createFileTags(files),
    ...createFileReembedding(files, null as never),
    ...createFileRetry(files, ledger),
    ...createMissingPages(files),
    moves: createMoves(files, withoutTransaction, events),
  };
}
export const openFileStores = async (): Promise<FileStores> => createStores(await openDatabase());

/** Returns the fields that differ, with their new values. Dates near the current time are `now` or `in N days`. */
export function difference<T extends object>(before: T, after: T): Record<string, unknown> {
  const plain = (value: unknown): unknown => {
    if (!(value instanceof Date)) return value;
    const days = Math.round((value.getTime() - Date.now()) / DAY_MS);
    if (Math.abs(value.getTime() - Date.now() - days * DAY_MS) > 600_000) return value;
    return days === 0 ? 'now' : `in ${days} days`;
  };
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof T & string>;
  names.delete('marks' as never);
  return Object.fromEntries(
    [...names]
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => [name, plain(after[name])]),
  );
}

export type Call = (file: FileDoc, tenant: typeof ADA) => Promise<unknown>;
export type Row = readonly [
  name: string,
  fields: Partial<FileDoc>,
  call: Call,
  changed: object,
  /** Whose files the change leaves alone: those of other runs, those of other tenants, or none (`record`). */
  owner: 'run' | 'tenant' | 'record',
];
export const commonFields = (files: Model<FileDoc>) => (id: number) => ({
  ...{ ...new files().toObject({ minimize: false }), ...ADA, ...OLD },
  ...{ source: 'BOX', externalFileId: `file ${id}`, createdAt: AGO, updatedAt: AGO },
});
export const readFiles = async (files: Model<FileDoc>): Promise<ReadonlyMap<number, FileDoc>> =>
  new Map((await files.find().lean<FileDoc[]>()).map((file) => [file._id, file]));

/** Checks that each change writes its fields of its file, and nothing for other tenants or files of another run. */
export async function checkFields({ files }: FileStores, rows: readonly Row[]): Promise<void> {
  await everyRow(
    rows,
    ([name]) => name,
    async ([, fields, call, changed, owner]) => {
      const ids = await seed(files, commonFields(files), {
        own: fields,
        other: fields,
        ofOtherRun: { ...fields, ...(owner === 'run' && { runId: OTHER_RUN }) },
      });
      const before = await readFiles(files);
      const [own, other, ofOtherRun] = ['own', 'other', 'ofOtherRun'].map((name) => before.get(ids.get(name)!)!);
      for (const stranger of owner === 'tenant' ? STRANGERS : []) await call(own!, stranger);
      if (owner === 'run') await call(ofOtherRun!, ADA);
      expect(await readFiles(files)).toEqual(before);
      await call(own!, ADA);
      const after = await readFiles(files);
      expect(difference(own!, after.get(own!._id)!)).toEqual(changed);
      expect([after.get(other!._id), after.get(ofOtherRun!._id)]).toEqual([other, ofOtherRun]);
    },
  );
}

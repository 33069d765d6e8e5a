import type { Model } from 'mongoose';

import {
  itemEnd,
  type ItemCause,
  type ItemEnd,
  type ItemOutcome,
  type ItemStage,
  type SkipCause,
  NO_COST,
} from '../../contract/runs/ledger.js';
import { FILE_SYNC_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import { collectionOf } from '../database/driver.js';
import { RUN_INDEX } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import type { ReembedDoc } from '../models/reembeds.js';
import type { RunDoc } from '../models/runs.js';
import { endOf, ENTRY_FIELDS, messageOf } from './items.js';
import type { EntryStages, TallyRow } from './tally.js';

/** A file of a run that has not ended. */
export interface LiveItem {
  readonly fileId: number;
  readonly externalId: string;
  readonly name: string | null;
  /** Null while the file is pending. */
  readonly end: ItemEnd | null;
  readonly message: string | null;
  readonly at: Date;
}

/** Filter of items; absent fields do not filter. */
export interface ItemFilter {
  readonly outcomes?: readonly (ItemOutcome | 'pending')[];
  readonly stages?: readonly ItemStage[];
  readonly causes?: readonly ItemCause[];
}
/** Returns whether an item matches the filter. @param end null for a pending item */
export function matchesFilter({ outcomes, stages, causes }: ItemFilter, end: ItemEnd | null): boolean {
  const { as = 'pending', stage = null, cause = null } = end ?? {};
  const isOf = <T>(wanted: readonly T[] | undefined, value: T | null): boolean =>
    wanted === undefined || (value !== null && wanted.includes(value));
  return isOf(outcomes, as) && isOf(stages, stage) && isOf(causes, cause);
}

/** Reads the items of an active run from the records of its files. */
export interface LiveItems {
  /**
   * Returns items after a file, ordered by id. May return items that do not match the filter; callers also apply
   * matchesFilter().
   */
  page(run: RunDoc, afterId: number, limit: number, filter?: ItemFilter): Promise<LiveItem[]>;
  sums(run: RunDoc): Promise<TallyRow[]>;
  /** Returns the stages that drop the ledger entries of items that `sums` counts already. */
  otherEntries(run: RunDoc): EntryStages;
}

/** Reads the items of active runs of any kind. */
export interface AnyLiveItems extends LiveItems {
  /** Returns which of the files belong to which of the runs. */
  among(runIds: readonly number[], fileIds: readonly number[]): Promise<{ fileId: number; runId: number }[]>;
}

/** Returns the outcome of an item that its run left unfinished: skipped if another run took it over, else aborted. */
export const outcomeOfSkipped = (cause: SkipCause): ItemEnd =>
  itemEnd(cause === 'superseded' ? 'skipped' : 'aborted', 'queue', cause);

/** Returns the filter for the files of a run, ordered by id. Containers are items of a delete only. */
export const filesOf = ({ _id: runId, kind }: Pick<RunDoc, '_id' | 'kind'>) => ({
  runId,
  // Names all statuses, so that the run's index returns the files in order.
  syncStatus: { $in: [...FILE_SYNC_STATUSES] },
  ...(kind === 'deleteFiles' ? {} : { isContainer: false }),
});

/** Returns the stages that drop entries whose file has a matching row in a collection. */
const withoutMatches = (from: string, foreignField: string, match: object): EntryStages => [
  {
    $lookup: {
      from,
      localField: 'fileId',
      foreignField,
      pipeline: [{ $match: match }, { $project: { _id: 1 } }],
      as: 'own',
    },
  },
  { $match: { own: [] } },
];

/** Returns the query for files whose items match a filter. A file without a stored outcome has that of its status. */
function filterOfFiles(filter: ItemFilter) {
  const { outcomes, stages, causes } = filter;
  const statuses = FILE_SYNC_STATUSES.filter((syncStatus) => matchesFilter(filter, endOf({ syncStatus })));
  const stored = {
    ended: { $ne: null },
    ...(outcomes ? { 'ended.as': { $in: outcomes.filter((outcome) => outcome !== 'pending') } } : {}),
    ...(stages ? { 'ended.stage': { $in: [...stages] } } : {}),
    ...(causes ? { 'ended.cause': { $in: [...causes] } } : {}),
  };
  return { $or: [stored, { ended: null, syncStatus: { $in: statuses } }] };
}

const byFiles = (files: Model<FileDoc>): LiveItems => ({
  async page(run, afterId, limit, filter) {
    const found = await files
      .find({ ...filesOf(run), ...(filter ? filterOfFiles(filter) : {}), _id: { $gt: afterId } }, ENTRY_FIELDS)
      .sort({ _id: 1 })
      .hint(RUN_INDEX)
      .limit(limit)
      .lean();
    return found.map((file) => ({
      fileId: file._id,
      externalId: file.externalFileId,
      name: file.name,
      end: endOf(file),
      message: messageOf(file),
      at: file.updatedAt,
    }));
  },
  async sums(run) {
    const groups = await files.aggregate<TallyRow & { _id: { status: FileSyncStatus; as: ItemOutcome | null } }>([
      { $match: filesOf(run) },
      {
        $group: {
          _id: { status: '$syncStatus', as: '$ended.as' },
          items: { $sum: 1 },
          bytes: { $sum: '$ended.bytes' },
          tokens: { $sum: '$ended.tokens' },
          reused: { $sum: '$ended.reused' },
        },
      },
    ]);
    return groups.map(({ _id: { status, as }, ...sums }) => ({
      ...sums,
      _id: as ?? endOf({ syncStatus: status })?.as ?? 'pending',
    }));
  },
  otherEntries: (run) => withoutMatches(collectionOf(files), '_id', filesOf(run)),
});

function reembedEnd({ outcome, reason, tokens }: ReembedDoc): ItemEnd | null {
  if (outcome === null) return null;
  if (outcome === 'reembedded') return { as: 'ok', stage: null, cause: null, ...NO_COST, tokens };
  return outcome === 'failed' ? itemEnd('failed', 'embed', 'embedding_failed') : itemEnd('skipped', 'select', reason);
}

/** Items of a re-embedding run, which owns no files: its items are rows of another collection. */
const byReembeds = (rows: Model<ReembedDoc>, files: Model<FileDoc>): LiveItems => ({
  async page({ _id: runId }, afterId, limit) {
    const outcome = { $in: [null, 'reembedded', 'skipped', 'failed'] as const };
    const found = await rows
      .find({ runId, outcome, fileId: { $gt: afterId } })
      .sort({ fileId: 1 })
      .limit(limit)
      .lean();
    const named = await files
      .find({ _id: { $in: found.map(({ fileId }) => fileId) } }, { externalFileId: 1, name: 1 })
      .lean();
    const names = new Map(named.map((file) => [file._id, file]));
    return found.map((row) => {
      const { externalFileId: externalId = '', name = null } = names.get(row.fileId) ?? {};
      return { fileId: row.fileId, externalId, name, end: reembedEnd(row), message: row.message, at: row.at };
    });
  },
  async sums({ _id: runId }) {
    const groups = await rows.aggregate<{ _id: ReembedDoc['outcome']; items: number; tokens: number }>([
      { $match: { runId } },
      { $group: { _id: '$outcome', items: { $sum: 1 }, tokens: { $sum: '$tokens' } } },
    ]);
    return groups.map(({ _id: outcome, ...sums }) => ({
      ...NO_COST,
      ...sums,
      _id: outcome === null ? 'pending' : outcome === 'reembedded' ? 'ok' : outcome,
    }));
  },
  otherEntries: ({ _id: runId }) => withoutMatches(collectionOf(rows), 'fileId', { runId }),
});

/** Returns the live items of a run, by its kind, while the run is active. */
export function createLiveItems(files: Model<FileDoc>, reembeds: Model<ReembedDoc>): AnyLiveItems {
  const [ofFiles, ofReembeds] = [byFiles(files), byReembeds(reembeds, files)];
  const itemsOf = ({ kind }: RunDoc): LiveItems => (kind === 'reembedFiles' ? ofReembeds : ofFiles);
  return {
    page: (run, ...args) => itemsOf(run).page(run, ...args),
    sums: (run) => itemsOf(run).sums(run),
    otherEntries: (run) => itemsOf(run).otherEntries(run),
    async among(runIds, fileIds) {
      const query = { _id: { $in: [...fileIds] }, runId: { $in: [...runIds] }, isContainer: false };
      const rows = await files.find(query, { runId: 1 }).lean();
      return rows.flatMap(({ _id: fileId, runId }) => (runId === null ? [] : [{ fileId, runId }]));
    },
  };
}

import type { Model } from 'mongoose';

import {
  type ItemCost,
  type ItemCause,
  ITEM_OUTCOMES,
  type ItemOutcome,
  type ItemStage,
  NO_TALLY,
} from '../../contract/runs/ledger.js';
import type { RunTally } from '../../contract/runs/ledger.js';
import type { RunDoc } from '../models/runs.js';
import { fileOfKey, itemKey, keysOf, runOfKey } from './items.js';
import { matchesFilter, type ItemFilter, type AnyLiveItems, type LiveItem } from './live.js';
import type { LedgerItemDoc } from '../models/ledger.js';
import { addTallies, sumEntries, tallyOf } from './tally.js';

/** A ledger entry in a list. */
export interface LedgerItem extends ItemCost {
  /** Also the cursor for the next page. */
  readonly id: string;
  readonly runId: number;
  readonly fileId: number | null;
  readonly externalId: string;
  readonly name: string | null;
  readonly outcome: ItemOutcome | 'pending';
  readonly stage: ItemStage | null;
  readonly cause: ItemCause | null;
  readonly message: string | null;
  readonly at: Date;
}

/** Reads the items of ended and active runs. Callers must check the owner of the runs first. */
export interface LedgerQueries {
  /**
   * Returns the final or current counts of runs, by run id. The counts of a scheduled sync are the sums over its parts,
   * which are the runs that it started.
   */
  tallies(runs: readonly RunDoc[]): Promise<ReadonlyMap<number, RunTally>>;
  /** Returns items of a run, or of all parts of a scheduled sync, ordered by id. */
  items(run: RunDoc, filter: ItemFilter, after: string | null, limit: number): Promise<LedgerItem[]>;
  /** Returns which of the files and items belong to the run, finished or not, as id strings. */
  processed(
    run: RunDoc,
    items: { readonly fileIds: readonly number[]; readonly itemIds: readonly string[] },
  ): Promise<string[]>;
  /** Returns the workflows of a run and its parts, by the runs' ids. */
  workflowIds(run: RunDoc): Promise<ReadonlyMap<number, string>>;
}

/** Minimum page size of a read, for filters that discard most rows. */
const MIN_PAGE_SIZE = 500;

const itemOfEntry = ({
  _id: id,
  outcome,
  expiresAt: _until,
  organizationId: _of,
  userId: _whose,
  ...item
}: LedgerItemDoc) => ({ ...item, id, name: item.name ?? item.externalId, outcome }) satisfies LedgerItem;

const itemOfFile = (runId: number, { end, ...item }: LiveItem): LedgerItem => {
  const { as = 'pending' as const, stage = null, cause = null, bytes = 0, tokens = 0, reused = 0 } = end ?? {};
  const { fileId } = item;
  return {
    ...item,
    id: itemKey(runId, { fileId }),
    runId,
    name: item.name ?? item.externalId,
    ...{ outcome: as, stage, cause, bytes, tokens, reused },
  };
};

export function createLedgerQueries(
  entries: Model<LedgerItemDoc>,
  runs: Model<RunDoc>,
  live: AnyLiveItems,
): LedgerQueries {
  const hasEnded = ({ tally }: RunDoc): boolean => tally !== undefined;
  const partsOf = ({ _id: parentRunId }: RunDoc): Promise<RunDoc[]> =>
    runs
      .find({ parentRunId, part: { $exists: true } })
      .sort({ _id: 1 })
      .lean()
      .exec();
  const tallyOfRun = async (run: RunDoc): Promise<RunTally> => {
    if (run.kind === 'autoSync') {
      const parts = await Promise.all((await partsOf(run)).map(tallyOfRun));
      return parts.reduce(addTallies, NO_TALLY);
    }
    return run.tally ?? currentTally(run);
  };
  /** Returns the counts of an active run: those of its files, and of ledger entries for other items. */
  const currentTally = async (run: RunDoc): Promise<RunTally> => {
    const sums = [...(await live.sums(run)), ...(await sumEntries(entries, run._id))];
    const now = await runs.findOne({ _id: run._id }, { tally: 1, closedTo: 1 }).lean();
    if (now?.tally) return now.tally;
    if (now?.closedTo === undefined) return tallyOf(sums);
    // The run is ending, and some of its files are also in the ledger. Excluding these entries takes longer.
    return tallyOf([...(await live.sums(run)), ...(await sumEntries(entries, run._id, live.otherEntries(run)))]);
  };

  const recordedItems = async (
    runId: number,
    filter: ItemFilter,
    after: string,
    limit: number,
  ): Promise<LedgerItem[]> => {
    const { outcomes, stages, causes } = filter;
    const { last } = keysOf(runId);
    const wantedOutcomes = outcomes && ITEM_OUTCOMES.filter((outcome) => outcomes.includes(outcome));
    const rows = await entries
      .find({
        runId,
        _id: { $gt: after, $lt: last },
        ...(wantedOutcomes ? { outcome: { $in: wantedOutcomes } } : {}),
        ...(stages ? { stage: { $in: [...stages] } } : {}),
        ...(causes ? { cause: { $in: [...causes] } } : {}),
      })
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    return rows.map(itemOfEntry);
  };
  /** Returns the items of an active run: its files with their current state, then its items without a file. */
  const itemsOfActiveRun = async (
    run: RunDoc,
    filter: ItemFilter,
    after: string,
    limit: number,
  ): Promise<LedgerItem[]> => {
    const found: LedgerItem[] = [];
    const afterFiles = fileOfKey(after) === null && after !== keysOf(run._id).first;
    for (let from = fileOfKey(after) ?? 0; !afterFiles && found.length < limit;) {
      const pageSize = Math.max(limit, MIN_PAGE_SIZE);
      const page = await live.page(run, from, pageSize, filter);
      for (const item of page) if (matchesFilter(filter, item.end)) found.push(itemOfFile(run._id, item));
      if (page.length < pageSize) break;
      from = page.at(-1)?.fileId ?? from;
    }
    // Read after the files: a file that another run takes over is recorded first, so at least one of the lists has it.
    // If both have it, the item from the file's record is returned.
    const recorded = await recordedItems(run._id, filter, after, limit);
    const liveIds = new Set(found.map(({ id }) => id));
    return [...found, ...recorded.filter(({ id }) => !liveIds.has(id))]
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  };

  return {
    async tallies(counted) {
      const all = await Promise.all(counted.map(async (run) => [run._id, await tallyOfRun(run)] as const));
      return new Map(all);
    },
    async processed(run, { fileIds, itemIds }) {
      const runIds = [run, ...(run.kind === 'autoSync' ? await partsOf(run) : [])].map(({ _id }) => _id);
      const recorded = await entries
        .find({ runId: { $in: runIds }, $or: [{ fileId: { $in: [...fileIds] } }, { _id: { $in: [...itemIds] } }] })
        .lean();
      const keys = itemIds.map(fileOfKey).filter((id) => id !== null);
      const liveFiles = await live.among(runIds, [...fileIds, ...keys]);
      const ids = liveFiles.flatMap(({ fileId, runId }) => [String(fileId), itemKey(runId, { fileId })]);
      return [...recorded.flatMap(({ _id, fileId }) => [_id, String(fileId)]), ...ids];
    },
    async workflowIds(run) {
      const all = run.kind === 'autoSync' ? [run, ...(await partsOf(run))] : [run];
      return new Map(all.map(({ _id, workflowId }) => [_id, workflowId]));
    },
    async items(run, filter, after, limit) {
      const listedRuns = run.kind === 'autoSync' ? await partsOf(run) : [run];
      const from = after === null ? null : runOfKey(after);
      const found: LedgerItem[] = [];
      for (const listedRun of listedRuns) {
        if (found.length >= limit) break;
        if (from !== null && listedRun._id < from) continue;
        const start = after !== null && from === listedRun._id ? after : keysOf(listedRun._id).first;
        const read = hasEnded(listedRun)
          ? recordedItems
          : (_id: number, ...args: [ItemFilter, string, number]) => itemsOfActiveRun(listedRun, ...args);
        found.push(...(await read(listedRun._id, filter, start, limit - found.length)));
      }
      return found;
    },
  };
}

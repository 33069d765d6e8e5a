import type { Model, PipelineStage } from 'mongoose';

import { type ItemOutcome, NO_TALLY, type RunTally } from '../../contract/runs/ledger.js';
import type { LedgerItemDoc } from '../models/ledger.js';

/** Number of items with an outcome, and their cost. */
export interface TallyRow {
  readonly _id: ItemOutcome | 'pending';
  readonly items: number;
  readonly bytes: number;
  readonly tokens: number;
  readonly reused: number;
}
/** Returns the tally of a run: the sum of its rows. */
export const tallyOf = (rows: readonly TallyRow[]): RunTally =>
  rows.reduce<RunTally>(
    (sum, { _id, items, bytes, tokens, reused }) => ({
      ...sum,
      [_id]: sum[_id] + items,
      discovered: sum.discovered + items,
      bytes: sum.bytes + bytes,
      tokens: sum.tokens + tokens,
      reused: sum.reused + reused,
    }),
    NO_TALLY,
  );
const SUMS = {
  items: { $sum: 1 },
  bytes: { $sum: '$bytes' },
  tokens: { $sum: '$tokens' },
  reused: { $sum: '$reused' },
} as const;
/** Aggregation stages that filter the entries of a run, before they are summed. */
export type EntryStages = readonly Exclude<PipelineStage, PipelineStage.Merge | PipelineStage.Out>[];

/** Sums the entries of a run by outcome. */
export const sumEntries = (
  entries: Model<LedgerItemDoc>,
  runId: number,
  stages: EntryStages = [],
): Promise<TallyRow[]> =>
  entries.aggregate<TallyRow>([{ $match: { runId } }, ...stages, { $group: { _id: '$outcome', ...SUMS } }]).exec();

/** Sums the entries of several runs by outcome, for each run. */
export async function sumEntriesByRun(
  entries: Model<LedgerItemDoc>,
  runIds: readonly number[],
): Promise<ReadonlyMap<number, readonly TallyRow[]>> {
  const rows = await entries.aggregate<Omit<TallyRow, '_id'> & { _id: { runId: number; outcome: ItemOutcome } }>([
    { $match: { runId: { $in: [...runIds] } } },
    { $group: { _id: { runId: '$runId', outcome: '$outcome' }, ...SUMS } },
  ]);
  const sums = new Map<number, TallyRow[]>();
  for (const { _id, ...sum } of rows)
    sums.set(_id.runId, [...(sums.get(_id.runId) ?? []), { ...sum, _id: _id.outcome }]);
  return sums;
}

/** Adds the counts of two runs. */
export const addTallies = (a: RunTally, b: RunTally): RunTally => ({
  discovered: a.discovered + b.discovered,
  ok: a.ok + b.ok,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
  aborted: a.aborted + b.aborted,
  pending: a.pending + b.pending,
  bytes: a.bytes + b.bytes,
  tokens: a.tokens + b.tokens,
  reused: a.reused + b.reused,
});

import type { Model } from 'mongoose';

import type { RunTally } from '../../contract/runs/ledger.js';
import { RUN_INDEX } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import { insertOnce } from '../database/insertOnce.js';
import type { RunDoc } from '../models/runs.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import { endOf, ENTRY_FIELDS, messageOf, type NewItem, rowOf, type OwnedRun } from './items.js';
import { outcomeOfSkipped, type LiveItems } from './live.js';
import type { LedgerItemDoc } from '../models/ledger.js';
import { sumEntries, sumEntriesByRun, tallyOf } from './tally.js';
import { updateRows } from '../database/updateRows.js';

/** Entries per write. */
const AT_ONCE = 1_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Writes the outcomes of a run's items. The write that ends a file also stores its outcome on the file. The outcome is
 * copied to the ledger when the run ends, or when another run takes the file. So a crash needs no repair, and a file
 * costs no extra write while it is synced.
 */
export interface LedgerWriter {
  /** Returns the time at which entries that are written now expire. */
  expiry(): Date;
  /**
   * Records the current outcomes of files for their runs that are still active. Call it before another run takes the
   * files over or deletes them. @param to id of that other run
   */
  recordOutcomes(
    files: readonly { readonly _id: number; readonly runId: number | null }[],
    to: number,
    session?: Session,
  ): Promise<void>;
  /** Records items that have no file in the run: skipped and deleted items. A repeated call overwrites the entries. */
  addItems(run: OwnedRun, items: readonly NewItem[], session?: Session): Promise<void>;
  /**
   * Records the outcomes of the files of an ending run, and returns its counts. Safe to repeat: a second call continues
   * after the last recorded file.
   */
  close(run: RunDoc): Promise<RunTally>;
  /**
   * Closes several runs of one user whose files are all idle, with fewer reads and writes than `close` for each. Also
   * returns the counts of the files, by run.
   */
  closeMany(tenant: Tenant, runs: readonly RunDoc[]): Promise<ReadonlyMap<number, ClosedRun>>;
  /** Deletes all entries of a user. */
  removeAll(tenant: Tenant): Promise<void>;
}

/** Counts of a run that has ended. */
export interface ClosedRun {
  readonly tally: RunTally;
  readonly counts: Readonly<Record<'total' | 'ready' | 'failed' | 'aborted' | 'open', number>>;
}

const NO_COUNTS: ClosedRun['counts'] = { total: 0, ready: 0, failed: 0, aborted: 0, open: 0 };
const countAs = (status: FileDoc['syncStatus']): keyof ClosedRun['counts'] => {
  if (status === 'READY' || status === 'READY_TO_SYNC') return 'ready';
  if (status === 'SYNC_ERROR') return 'failed';
  return status === 'SYNC_ABORTED' ? 'aborted' : 'open';
};

export function createLedgerWriter(
  entries: Model<LedgerItemDoc>,
  files: Model<FileDoc>,
  runs: Model<RunDoc>,
  live: LiveItems,
  lifeDays: number,
): LedgerWriter {
  const expiry = (): Date => new Date(Date.now() + lifeDays * DAY_MS);
  const overwrite = async (rows: readonly LedgerItemDoc[], session: Session): Promise<void> => {
    await updateRows(
      entries,
      rows.map((row) => ({ filter: { _id: row._id }, replacement: row, upsert: true as const })),
      session,
    );
  };
  return {
    expiry,
    async recordOutcomes(takenFiles, to, session = null) {
      const owners = [...new Set(takenFiles.flatMap(({ runId }) => (runId === null || runId === to ? [] : [runId])))];
      if (owners.length === 0) return;
      const activeRuns = await runs.find({ _id: { $in: owners }, finishedAt: null }, { _id: 1 }, { session }).lean();
      if (activeRuns.length === 0) return;
      const query = {
        _id: { $in: takenFiles.map(({ _id }) => _id) },
        runId: { $in: activeRuns.map(({ _id }) => _id) },
      };
      const found = await files.find({ ...query, isContainer: false }, ENTRY_FIELDS, { session }).lean();
      const [now, until] = [new Date(), expiry()];
      const rows = found.flatMap((file) => {
        const { _id: fileId, runId, externalFileId: externalId, name } = file;
        const message = messageOf(file);
        const end = endOf(file) ?? outcomeOfSkipped('superseded');
        return runId === null
          ? []
          : [rowOf({ ...file, _id: runId }, { fileId, externalId, name, end, message }, now, until)];
      });
      await overwrite(rows, session);
    },
    async addItems(run, items, session = null) {
      const [now, until] = [new Date(), expiry()];
      for (let from = 0; from < items.length; from += AT_ONCE)
        await overwrite(
          items.slice(from, from + AT_ONCE).map((item) => rowOf(run, item, now, until)),
          session,
        );
    },
    async close(run) {
      const until = expiry();
      let after = run.closedTo ?? 0;
      await runs.updateOne({ _id: run._id, finishedAt: null }, { $set: { closedTo: after } });
      for (;;) {
        const found = await live.page(run, after, AT_ONCE);
        const rows = found.map(({ at, end, ...item }) =>
          rowOf(run, { ...item, end: end ?? outcomeOfSkipped('unfinished') }, at, until),
        );
        // Rare: after a crash, or if a delete has recorded the file already.
        if (!(await insertOnce(entries, rows))) await overwrite(rows, null);
        if (found.length < AT_ONCE) break;
        after = found.at(-1)?.fileId ?? after;
        await runs.updateOne({ _id: run._id, finishedAt: null }, { $set: { closedTo: after } });
      }
      return tallyOf(await sumEntries(entries, run._id));
    },
    async closeMany({ organizationId, userId }, ended) {
      const until = expiry();
      const counts = new Map(ended.map(({ _id }) => [_id, NO_COUNTS]));
      const query = { runId: { $in: [...counts.keys()] }, organizationId, userId, isContainer: false };
      await runs.updateMany({ _id: { $in: [...counts.keys()] }, finishedAt: null }, { $set: { closedTo: 0 } });
      for (let after = 0; ;) {
        const found = await files
          .find({ ...query, _id: { $gt: after } }, ENTRY_FIELDS)
          .sort({ _id: 1 })
          .limit(AT_ONCE)
          .hint(RUN_INDEX)
          .lean();
        const rows = found.flatMap((file) => {
          const { _id: fileId, runId, externalFileId: externalId, name, syncStatus } = file;
          const message = messageOf(file);
          if (runId === null) return [];
          const previous = counts.get(runId) ?? NO_COUNTS;
          const as = countAs(syncStatus);
          counts.set(runId, { ...previous, total: previous.total + 1, [as]: previous[as] + 1 });
          const end = endOf(file) ?? outcomeOfSkipped('unfinished');
          return [rowOf({ ...file, _id: runId }, { fileId, externalId, name, end, message }, file.updatedAt, until)];
        });
        if (!(await insertOnce(entries, rows))) await overwrite(rows, null);
        if (found.length < AT_ONCE) break;
        after = found.at(-1)?._id ?? after;
      }
      const sums = await sumEntriesByRun(entries, [...counts.keys()]);
      return new Map(
        [...counts].map(([id, previous]) => [id, { tally: tallyOf(sums.get(id) ?? []), counts: previous }]),
      );
    },
    async removeAll({ organizationId, userId }) {
      await entries.deleteMany({ organizationId, userId });
    },
  };
}

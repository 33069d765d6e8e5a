import mongoose from 'mongoose';

import { ITEM_OUTCOMES, type ItemOutcome } from '../../contract/ledger.js';
import type { FileDoc } from '../../store/files/model.js';
import type { LedgerItemDoc } from '../../store/ledger/model.js';
import type { RunDoc } from '../../store/runs/model.js';
import type { UserDoc } from '../../store/users/model.js';
import { waitFor } from './waitFor.js';

/** How the line of a file must be, by the state that its run has left it in. */
const OUTCOMES: Partial<Record<FileDoc['syncStatus'], readonly ItemOutcome[]>> = {
  // Also a look that came to no end: the file is as it was.
  READY: ['ok', 'skipped', 'aborted'],
  SYNC_ERROR: ['failed'],
  SYNC_ABORTED: ['aborted'],
  READY_TO_SYNC: ['skipped', 'ok'],
};

/**
 * What is wrong with the counts of the runs that have ended: they must add up, be those of their lines, and have every file
 * that is still a run's own. Reads the database itself, and nothing that the service reckons.
 */
export async function wrongCounts(mongodbUri: string): Promise<string[]> {
  const connection = await mongoose.createConnection(mongodbUri).asPromise();
  try {
    const users = connection.collection<UserDoc>('users');
    // What was theirs is erased.
    const deleted = new Set((await users.find({ deletedAt: { $ne: null } }).toArray()).map(({ _id }) => _id));
    const runs = await connection
      .collection<RunDoc>('runs')
      .find({ finishedAt: { $ne: null } })
      .toArray();
    const lines = await connection.collection<LedgerItemDoc>('ledger_items').find().toArray();
    const files = await connection
      .collection<FileDoc>('files')
      .find({ isContainer: false }, { projection: { runId: 1, syncStatus: 1, ended: 1, updatedAt: 1 } })
      .toArray();
    const linesOf = byRun(lines);
    const filesOf = byRun(files);
    return runs
      .filter(({ userId }) => !deleted.has(userId))
      .flatMap((run) => wrongs(run, linesOf.get(run._id) ?? [], filesOf.get(run._id) ?? []));
  } finally {
    await connection.close();
  }
}

/**
 * The same of a service whose processes were killed: once whatever they were at has come to its end. A run that comes to none
 * is wrong itself.
 */
export async function wrongCountsAtRest(mongodbUri: string): Promise<string[]> {
  const connection = await mongoose.createConnection(mongodbUri).asPromise();
  const inMotion = (): Promise<RunDoc[]> =>
    connection.collection<RunDoc>('runs').find({ finishedAt: null }).toArray() as Promise<RunDoc[]>;
  try {
    const left = await waitFor(inMotion, (runs) => runs.length === 0).catch(inMotion);
    const stuck = left.map(({ _id, kind, workflowId }) => `run ${_id} (${kind}, ${workflowId}) has not ended`);
    return [...stuck, ...(await wrongCounts(mongodbUri))];
  } finally {
    await connection.close();
  }
}

/** @throws where there is anything wrong. Whatever a suite is about: ok + failed + skipped + aborted = discovered, of each of its runs. */
export function refuseWrong(wrong: readonly string[]): void {
  if (wrong.length > 0) throw new Error(`The ledger does not add up:\n${wrong.join('\n')}`);
}

function byRun<T extends { readonly runId: number | null }>(rows: readonly T[]): Map<number | null, T[]> {
  const groups = new Map<number | null, T[]>();
  for (const row of rows) {
    const group = groups.get(row.runId);
    if (group) group.push(row);
    else groups.set(row.runId, [row]);
  }
  return groups;
}

function wrongs(
  { _id, kind, outcome, tally, counts, finishedAt }: RunDoc,
  lines: readonly LedgerItemDoc[],
  files: readonly Pick<FileDoc, '_id' | 'syncStatus' | 'ended' | 'updatedAt'>[],
): string[] {
  const found: string[] = [];
  const must = (isSo: boolean, what: string): void => {
    if (!isSo)
      found.push(
        `run ${_id} (${kind}, ${outcome}): ${what}; ${JSON.stringify({ tally, counts, lines: lines.length })}`,
      );
  };
  if (tally === undefined) {
    // Taken out of the outbox for good, or begun anew.
    must(outcome === 'aborted' && lines.length === 0, 'it has no tally');
    return found;
  }
  const { ok, failed, skipped, aborted, pending, discovered } = tally;
  must(ok + failed + skipped + aborted === discovered && pending === 0, 'its counts do not add up');
  for (const one of ITEM_OUTCOMES)
    must(lines.filter((line) => line.outcome === one).length === tally[one], `${one} is not the number of such lines`);
  for (const name of ['bytes', 'tokens', 'reused'] as const)
    must(lines.reduce((sum, line) => sum + line[name], 0) === tally[name], `${name} are not those of its lines`);
  const byFile = new Map(lines.map((line) => [line.fileId, line]));
  for (const file of files) {
    const line = byFile.get(file._id);
    if (!line) {
      must(false, `file ${file._id} is its own and has no line`);
      continue;
    }
    // What happened to it since is not the run's.
    if (finishedAt === null || file.updatedAt > finishedAt) continue;
    must(
      OUTCOMES[file.syncStatus]?.includes(line.outcome) ?? false,
      `file ${file._id} is ${file.syncStatus}, its line says ${line.outcome}`,
    );
  }
  // Counted from the files when the run ended, by others than the ledger.
  const { total = 0, failed: failedFiles = 0 } = counts;
  must(lines.filter(({ fileId }) => fileId !== null).length >= total, `it had ${total} files`);
  if (kind !== 'autoSync' && kind !== 'reembedFiles')
    must(failed >= failedFiles, `${failedFiles} of its files had failed`);
  return found;
}

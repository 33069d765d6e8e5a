import { ITEM_OUTCOMES, type ItemOutcome } from '../../contract/runs/ledger.js';
import type { FileDoc } from '../../store/models/files.js';
import type { LedgerItemDoc } from '../../store/models/ledger.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { UserDoc } from '../../store/models/users.js';
import { waitFor } from './waitFor.js';
import { connectMongo } from './mongo.js';

/** Outcomes that a file's ledger item may have, by the sync status of the file. */
const OUTCOMES: Partial<Record<FileDoc['syncStatus'], readonly ItemOutcome[]>> = {
  // A run can be aborted without any effect on the file.
  READY: ['ok', 'skipped', 'aborted'],
  SYNC_ERROR: ['failed'],
  SYNC_ABORTED: ['aborted'],
  READY_TO_SYNC: ['skipped', 'ok'],
};

/**
 * Returns errors in the counts of finished runs. The counts must add up, match the run's ledger items, and include
 * every file that the run owns. Reads the database directly and recomputes everything.
 * @param organizationId absent: runs of all organizations
 */
export async function findWrongCounts(mongodbUri: string, organizationId?: number): Promise<string[]> {
  const connection = await connectMongo(mongodbUri);
  const scope = scopeOf(organizationId);
  try {
    const users = connection.collection<UserDoc>('users');
    // Ledger items of deleted users are erased.
    const deleted = new Set((await users.find({ ...scope, deletedAt: { $ne: null } }).toArray()).map(({ _id }) => _id));
    const runs = await connection
      .collection<RunDoc>('runs')
      .find({ ...scope, finishedAt: { $ne: null } })
      .toArray();
    const items = await connection.collection<LedgerItemDoc>('ledger_items').find(scope).toArray();
    const files = await connection
      .collection<FileDoc>('files')
      .find({ ...scope, isContainer: false }, { projection: { runId: 1, syncStatus: 1, ended: 1, updatedAt: 1 } })
      .toArray();
    const itemsOf = byRun(items);
    const filesOf = byRun(files);
    return runs
      .filter(({ userId }) => !deleted.has(userId))
      .flatMap((run) => errorsOf(run, itemsOf.get(run._id) ?? [], filesOf.get(run._id) ?? []));
  } finally {
    await connection.close();
  }
}

const scopeOf = (organizationId: number | undefined) => (organizationId === undefined ? {} : { organizationId });

/**
 * Waits until all runs have ended, then returns the errors of findWrongCounts. A run that does not end counts as an
 * error, too.
 */
export async function findWrongCountsOfEndedRuns(mongodbUri: string, organizationId?: number): Promise<string[]> {
  const connection = await connectMongo(mongodbUri);
  const query = { ...scopeOf(organizationId), finishedAt: null };
  const unfinished = (): Promise<RunDoc[]> =>
    connection.collection<RunDoc>('runs').find(query).toArray() as Promise<RunDoc[]>;
  try {
    const remaining = await waitFor(unfinished, (runs) => runs.length === 0).catch(unfinished);
    const stuck = remaining.map(({ _id, kind, workflowId }) => `run ${_id} (${kind}, ${workflowId}) has not ended`);
    return [...stuck, ...(await findWrongCounts(mongodbUri, organizationId))];
  } finally {
    await connection.close();
  }
}

/** Every suite passes the errors of its runs' counts to this function at its end. @throws if there are errors */
export function throwOnWrongCounts(errors: readonly string[]): void {
  if (errors.length > 0) throw new Error(`The ledger does not add up:\n${errors.join('\n')}`);
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

function errorsOf(
  { _id, kind, outcome, tally, counts, finishedAt }: RunDoc,
  items: readonly LedgerItemDoc[],
  files: readonly Pick<FileDoc, '_id' | 'syncStatus' | 'ended' | 'updatedAt'>[],
): string[] {
  const errors: string[] = [];
  const check = (holds: boolean, message: string): void => {
    if (!holds)
      errors.push(
        `run ${_id} (${kind}, ${outcome}): ${message}; ${JSON.stringify({ tally, counts, items: items.length })}`,
      );
  };
  if (tally === undefined) {
    // Only runs that were aborted before their start, or closed because a new run replaces them, have no tally.
    check(outcome === 'aborted' && items.length === 0, 'the run has no tally');
    return errors;
  }
  const { ok, failed, skipped, aborted, pending, discovered } = tally;
  check(ok + failed + skipped + aborted === discovered && pending === 0, 'the counts do not add up');
  for (const outcomeName of ITEM_OUTCOMES)
    check(
      items.filter((item) => item.outcome === outcomeName).length === tally[outcomeName],
      `${outcomeName} is not the number of items with that outcome`,
    );
  for (const name of ['bytes', 'tokens', 'reused'] as const)
    check(items.reduce((sum, item) => sum + item[name], 0) === tally[name], `${name} is not the sum over the items`);
  const byFile = new Map(items.map((item) => [item.fileId, item]));
  for (const file of files) {
    const item = byFile.get(file._id);
    if (!item) {
      check(false, `file ${file._id} belongs to the run but has no ledger item`);
      continue;
    }
    // Skip files that were changed after the end of the run.
    if (finishedAt === null || file.updatedAt > finishedAt) continue;
    check(
      OUTCOMES[file.syncStatus]?.includes(item.outcome) ?? false,
      `file ${file._id} is ${file.syncStatus}, but its ledger item is ${item.outcome}`,
    );
  }
  // These counts come from the files at the end of the run, independently of the ledger.
  const { total = 0, failed: failedFiles = 0 } = counts;
  check(
    items.filter(({ fileId }) => fileId !== null).length >= total,
    `there are fewer items than the run's ${total} files`,
  );
  if (kind !== 'autoSync' && kind !== 'reembedFiles')
    check(failed >= failedFiles, `fewer items have failed than the run's ${failedFiles} failed files`);
  return errors;
}

import type { RunDoc } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { emptyFiles } from '../generations/eraseContents.js';
import { advanceQuarantine } from './quarantineSteps.js';

/** Maximum number of child files that are found at each level below the given files. */
const MAX_ATTACHMENTS = 100_000;
/** Files processed in one step. */
const FILES_AT_ONCE = 200;

/** Completes the unfinished quarantine steps of the run's files, including those that an earlier attempt began. */
export async function finishRemovals(run: RunDoc, deps: ActivityDeps, signal: AbortSignal): Promise<void> {
  while ((await advanceQuarantine(run, FILES_AT_ONCE, deps, signal)) > 0) signal.throwIfAborted();
}

/**
 * Returns files and the files below them, children before their parents. If a crash interrupts the deletion, the
 * parents still exist, so the next attempt finds the remaining children through them.
 */
async function withDescendants(
  run: RunDoc,
  ids: readonly number[],
  { files }: Pick<ActivityDeps['store'], 'files'>,
): Promise<number[]> {
  const levels = [[...ids]];
  const found = new Set(ids);
  for (let level = ids; level.length > 0;) {
    const children = await files.ids(run, { parentFileIds: level }, MAX_ATTACHMENTS);
    const newIds = children.filter((id) => !found.has(id));
    for (const id of newIds) found.add(id);
    levels.push(newIds);
    level = newIds;
  }
  return levels.toReversed().flat();
}

/**
 * Deletes files that no longer exist at their source, with their attachments, and writes the events of a deletion. The
 * files stay in quarantine for the configured time, in which they can be restored. Safe to repeat.
 */
export async function removeMissing(
  run: RunDoc,
  ids: readonly number[],
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<void> {
  if (ids.length === 0) return;
  const { store, settings } = deps;
  const allIds = await withDescendants(run, ids, store);
  for (let from = 0; from < allIds.length; from += FILES_AT_ONCE) {
    signal.throwIfAborted();
    const batch = allIds.slice(from, from + FILES_AT_ONCE);
    if (settings.quarantineMs === 0) {
      await emptyFiles(store, run, batch);
      await store.files.remove(run, run._id, batch, true);
    } else {
      await store.quarantine.moveIn(run, batch, new Date(Date.now() + settings.quarantineMs));
      await finishRemovals(run, deps, signal);
    }
  }
}

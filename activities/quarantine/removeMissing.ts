import type { RunDoc } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { emptyFiles } from '../generations/eraseContents.js';
import { advanceQuarantine } from './quarantineSteps.js';

/** Maximum number of attachments of the files of one step. */
const MAX_ATTACHMENTS = 100_000;
/** Files processed in one step. */
const FILES_AT_ONCE = 200;

/** Completes the steps that an earlier attempt began for vanished files. */
export async function finishRemovals(run: RunDoc, deps: ActivityDeps, signal: AbortSignal): Promise<void> {
  while ((await advanceQuarantine(run, FILES_AT_ONCE, deps, signal)) > 0) signal.throwIfAborted();
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
  const filters = await store.files.expand(run, { parentFileIds: ids, includeAllChildren: true });
  const allIds = [...new Set([...ids, ...(await store.files.ids(run, filters, MAX_ATTACHMENTS))])];
  if (settings.quarantineMs === 0) {
    await emptyFiles(store, run, allIds);
    await store.files.remove(run, run._id, allIds, true);
    return;
  }
  for (let from = 0; from < allIds.length; from += FILES_AT_ONCE) {
    signal.throwIfAborted();
    const batch = allIds.slice(from, from + FILES_AT_ONCE);
    await store.quarantine.moveIn(run, batch, new Date(Date.now() + settings.quarantineMs));
    await finishRemovals(run, deps, signal);
  }
}

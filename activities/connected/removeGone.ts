import type { Store } from '../../store/connect.js';
import type { RunDoc } from '../../store/runs/model.js';
import { emptyFiles } from '../emptyFiles.js';

/** Files that came out of some others, at most: each message has a bounded number of attachments. */
const MOST_INSIDE = 100_000;

/** Deletes files that are gone at their source, with those that came out of them. Safe to repeat. */
export async function removeGone(store: Store, run: RunDoc, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const filters = await store.files.expand(run, { parentFileIds: ids, includeAllChildren: true });
  const all = [...new Set([...ids, ...(await store.files.ids(run, filters, MOST_INSIDE))])];
  await emptyFiles(store, run, all);
  await store.files.remove(run, run._id, all, false);
}

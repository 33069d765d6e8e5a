import { writtenPoints } from './points.js';
import type { Store } from '../../store/connect.js';
import type { FileDoc } from '../../store/models/files.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { Tenant } from '../../store/users/accept.js';

/** Scope of a delete: all generations. */
const EVERY_GENERATION = { below: Number.MAX_SAFE_INTEGER };

/**
 * Deletes the data of files, and verifies that no point, chunk or stored content remains. Safe to repeat.
 * @throws if data remains, because another attempt wrote it concurrently
 */
export async function eraseContents(
  store: Store,
  tenant: Tenant,
  files: readonly FileDoc[],
  ids: readonly number[],
): Promise<void> {
  const scopes = ids.map((fileId) => ({ ...tenant, fileId, generations: EVERY_GENERATION }));
  await Promise.all([
    store.vectors.deletePoints(files.flatMap(writtenPoints)),
    store.chunks.deleteGenerations(scopes),
    store.contents.deleteGenerations(scopes),
    store.originals.deleteOf(tenant, ids),
    store.recognizedPages.deleteOf(tenant, ids),
    store.siteBlocks.deleteOf(tenant, ids),
  ]);
  // The generations of an unfinished or crashed sync are unknown.
  if ((await store.vectors.countOf(tenant, ids)) > 0) await store.vectors.deleteGenerations(scopes);
  const counts = await Promise.all([
    store.vectors.countOf(tenant, ids),
    store.chunks.countOf(tenant, ids),
    store.contents.countOf(tenant, ids),
    store.originals.countOf(tenant, ids),
    store.recognizedPages.countOf(tenant, ids),
    store.siteBlocks.countOf(tenant, ids),
  ]);
  const remaining = counts.reduce((sum, count) => sum + count, 0);
  // Another attempt wrote concurrently: the retry deletes that too.
  if (remaining > 0) throw new Error(`${remaining} points, chunks or contents of deleted files remain`);
}

/** Assigns files to the run, deletes their data, and verifies the deletion. Their records stay. Safe to repeat. */
export async function emptyFiles(store: Store, run: RunDoc, ids: readonly number[]): Promise<void> {
  const tenant = { organizationId: run.organizationId, userId: run.userId };
  // Runs that still use the files can no longer publish them.
  await store.files.takeOver(tenant, run._id, run.workflowId, ids);
  await eraseContents(store, tenant, await store.files.byIds(tenant, ids), ids);
}

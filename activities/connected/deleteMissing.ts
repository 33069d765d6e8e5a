import { isByChanges, isAccountedFor } from '../../contract/accounts/connections.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { Run } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { countHeld } from '../quarantine/massDelete.js';
import { removeMissing, finishRemovals } from '../quarantine/removeMissing.js';
import { type Confirmation, confirmMissing } from './confirmMissing.js';

/** Maximum number of files that are compared and deleted in one step. */
const FILES_PER_BATCH = 200;
const HELD_MESSAGE =
  'a listing lacks so many known items that nothing was deleted; check the source, then approve the deletion with the command line';

/** Items that a listing did not find, or that a change feed reported as deleted. */
interface MissingItems {
  /** Number of files of the data source. */
  readonly files: number;
  /** Number of these files that are missing at the source. */
  readonly vanished: number;
  /** Whether the listing found nothing at all. */
  readonly isEmpty: boolean;
  deleteFiles(): Promise<void>;
}

/**
 * Deletes the files and items that no longer exist at the source. Deletes nothing if the listing was incomplete, or if
 * `countHeld` holds the deletions: so many files are missing that an error of the source is more likely than deletions,
 * and they are not approved. If listings of the source may omit items, the missing ones are first checked at the
 * source, so only files of items that are gone count as missing. Safe to repeat.
 * @param attempt number of this attempt, from 1
 * @throws Fault if the source fails during the checks, as `confirmMissing` does
 */
export async function deleteMissing(
  run: Run<'syncItems'>,
  source: DataSourceDoc,
  deps: ActivityDeps,
  signal: AbortSignal,
  attempt = 1,
): Promise<void> {
  const { store, settings, log } = deps;
  const { _id: runId, progress } = run;
  const { refused } = progress.walk;

  // Files that were created after the run was accepted are not compared with the listing: they would lower the share of
  // missing files, which decides whether the deletions are held.
  const whole = { runId, begun: run.acceptedAt };
  const unlistedItems = async (confirmed: Confirmation | null): Promise<MissingItems> => {
    const listing = confirmed ? { ...whole, existing: confirmed.existing } : whole;
    const { items, ...counts } = await store.items.countMissing(source, listing);
    return {
      ...counts,
      isEmpty: items === 0,
      async deleteFiles() {
        for (let afterId: number | null = 0; afterId !== null;) {
          signal.throwIfAborted();
          const part = await store.items.missingFiles(source, listing, afterId, FILES_PER_BATCH);
          const vanishedFiles = part.files.filter(({ externalId }) => confirmed?.gone.has(externalId) ?? true);
          const ids = vanishedFiles.map(({ id }) => id);
          await removeMissing(run, ids, deps, signal);
          afterId = part.afterId;
        }
        await store.items.deleteMissing(source, runId, confirmed ? [...confirmed.gone] : undefined);
      },
    };
  };
  const reportedDeletions = async (): Promise<MissingItems> => ({
    ...(await store.items.countDeleted(source)),
    isEmpty: false,
    async deleteFiles() {
      for (;;) {
        signal.throwIfAborted();
        const { items, files } = await store.items.listDeleted(source, FILES_PER_BATCH);
        if (items.length === 0) return;
        await removeMissing(run, files, deps, signal);
        await store.items.deleteRows(source, items);
      }
    },
  });

  // Finish what an earlier attempt began to remove: the queries below no longer return those files.
  await finishRemovals(run, deps, signal);
  const byChanges = isByChanges(progress);
  // The feed reports deletions only below the roots that it covers. Items outside them were listed completely, so those
  // that the listing did not find are marked as deleted.
  if (byChanges && progress.coveredRoots && refused === 0)
    await store.items.markUnlisted(source, runId, progress.coveredRoots);
  // If a folder could not be listed, its contents are unknown. Deletions in a change feed are certain.
  const mayDelete = byChanges || isAccountedFor(progress.walk);
  const confirmed =
    mayDelete && !byChanges ? await confirmMissing(run, { source, listing: whole, attempt }, deps, signal) : null;
  const { files, vanished, isEmpty, deleteFiles } = await (byChanges ? reportedDeletions() : unlistedItems(confirmed));
  const isApproved = source.deletionsApproved === true;
  const numHeld = mayDelete
    ? countHeld({ missing: vanished, files, isEmpty, isApproved }, settings.massDeletePercent)
    : 0;
  await store.dataSources.mergeMetadata(run, source._id, {
    items_refused: refused || null,
    // An incomplete listing decides nothing about deletions that an earlier one held.
    ...(mayDelete && { deletions_held: numHeld || null }),
  });
  const { organizationId, requestId } = run;
  if (numHeld > 0)
    log.warn({ runId, organizationId, requestId, dataSourceId: source._id, vanished, files }, HELD_MESSAGE);
  else if (mayDelete) {
    await deleteFiles();
    // Withdraw only an approval that this step used. An approval stays for a later listing if it arrived during this
    // step, if this listing was incomplete, or if some missing items were not checked.
    if (isApproved && confirmed?.isComplete !== false) await store.dataSources.withdrawApproval(run, source._id);
  }
}

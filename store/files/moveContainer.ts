import type { FeedReading } from '../../contract/runs/feeds.js';
import { itemEnd, type ItemCause } from '../../contract/runs/ledger.js';
import type { FileChanges } from './changes.js';
import { metadataFields } from './metadataFields.js';

export interface ContainerChange {
  readonly status: 'QUEUED_FOR_SYNC' | 'SYNCING' | 'READY' | 'SYNC_ERROR';
  readonly message?: string | null;
  /** Cause of a failure. */
  readonly cause?: ItemCause;
  readonly metadata?: Record<string, unknown>;
  /** Whether to set the time of the last sync. */
  readonly synced?: boolean;
  /**
   * Whether a scheduled sync makes the change. If so, ALL_UPLOADED_FILES_QUEUED is not written here, but at the end of
   * the sync.
   */
  readonly isScheduled?: boolean;
  /** State of the feed for the next run; null deletes an earlier one. */
  readonly feedReading?: FeedReading | null;
  /** Current address of the container. */
  readonly externalUrl?: string;
  /**
   * Whether all children of the container are discovered and queued. If so, WEBSCRAPE_URLS_READY is written, once per
   * run.
   */
  readonly discovered?: boolean;
}

/** Returns the transition for a change of a container. */
const transitionOf = ({ status, discovered = false }: ContainerChange) => {
  if (discovered) return 'containerDiscovered';
  if (status === 'SYNCING') return 'containerStart';
  if (status === 'QUEUED_FOR_SYNC') return 'containerPause';
  return status === 'READY' ? 'containerFinish' : 'containerFail';
};

/** Changes an unfinished container of a run; false if the run no longer owns it. */
export async function moveContainer(
  changes: FileChanges,
  runId: number,
  fileId: number,
  change: ContainerChange,
): Promise<boolean> {
  const { status, message = null, cause = null, metadata = {}, synced = false, isScheduled = false } = change;
  const { discovered = false, feedReading, externalUrl } = change;
  const removed = Object.entries(metadata).filter(([, value]) => value === null);
  const before = await changes.changeOne(
    transitionOf(change),
    {
      owner: { runId },
      where: { _id: fileId, isContainer: true },
      message,
      isScheduled,
      set: {
        // The ledger has no entry for a container; lists of failures find it by this cause.
        ended: status === 'SYNC_ERROR' ? itemEnd('failed', null, cause) : null,
        ...(synced ? { lastSync: new Date() } : {}),
        ...(feedReading === undefined ? {} : { feedReading }),
        ...(externalUrl === undefined ? {} : { externalUrl }),
        ...metadataFields(Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))),
      },
      unset: Object.fromEntries(removed.map(([name]) => [`fileMetadata.${name}`, 1])),
    },
    discovered ? `discovered:${runId}` : undefined,
  );
  return before !== null;
}

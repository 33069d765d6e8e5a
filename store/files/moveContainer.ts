import type { FeedReading } from '../../contract/runs/feeds.js';
import { endedAs, type ItemCause } from '../../contract/runs/ledger.js';
import type { FileChanges } from './changes.js';
import { metadataFields } from './metadataFields.js';

export interface ContainerChange {
  readonly status: 'QUEUED_FOR_SYNC' | 'SYNCING' | 'READY' | 'SYNC_ERROR';
  readonly message?: string | null;
  /** Why it fails. */
  readonly cause?: ItemCause;
  readonly facts?: Record<string, unknown>;
  readonly synced?: boolean;
  /** By a scheduled sync, which reports the queued files itself. */
  readonly isPass?: boolean;
  /** Kept for the next run; null forgets an earlier one. */
  readonly feedReading?: FeedReading | null;
  /** Where it is by now. */
  readonly externalUrl?: string;
  /** All its children are known and queued: this is reported once per run. */
  readonly discovered?: boolean;
}

/** The row of a container's change. */
const rowOfContainer = ({ status, discovered = false }: ContainerChange) => {
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
  const { status, message = null, cause = null, facts = {}, synced = false, isPass = false } = change;
  const { discovered = false, feedReading, externalUrl } = change;
  const gone = Object.entries(facts).filter(([, value]) => value === null);
  const before = await changes.one(
    rowOfContainer(change),
    {
      owner: { runId },
      where: { _id: fileId, isContainer: true },
      message,
      isPass,
      set: {
        // The ledger has no line of a container; lists of failures find it by this cause.
        ended: status === 'SYNC_ERROR' ? endedAs('failed', null, cause) : null,
        ...(synced ? { lastSync: new Date() } : {}),
        ...(feedReading === undefined ? {} : { feedReading }),
        ...(externalUrl === undefined ? {} : { externalUrl }),
        ...metadataFields(Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null))),
      },
      unset: Object.fromEntries(gone.map(([name]) => [`fileMetadata.${name}`, 1])),
    },
    discovered ? `discovered:${runId}` : undefined,
  );
  return before !== null;
}

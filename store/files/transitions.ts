import type { QueryFilter } from 'mongoose';

import { type EventFile, fileEvents, type NewEvent, uploadEvent } from '../../contract/events.js';
import { wantsSparseVectors } from '../../contract/files/ingestOptions.js';
import {
  FILE_SYNC_STATUSES,
  type FileSyncStatus,
  FINAL_FILE_STATUSES,
  IN_PROGRESS_STATUSES,
  WAITING_FILE_STATUSES,
} from '../../contract/files/statuses.js';
import type { Tenant } from '../users/accept.js';
import type { FileDoc } from '../models/files.js';

/** Event fields in addition to the file. */
interface Detail {
  readonly message?: string | null;
  /** Whether a scheduled sync made the change, not a request. */
  readonly isScheduled?: boolean;
}

/** Creates the events of a transition, from the records of its files before the change. */
type Emits = (files: readonly TransitioningFile[], detail: Detail) => NewEvent[];
type TransitioningFile = EventFile & Pick<FileDoc, 'syncStatus'>;

interface Row {
  /** States before the transition. Empty for new records. */
  readonly from: readonly FileSyncStatus[];
  readonly to: FileSyncStatus;
  /** Owner that the write requires: the run that owns the file, or its tenant. */
  readonly by: 'run' | 'tenant';
  readonly emits?: Emits;
  /**
   * Whether the transition ends a sync, so that FilesEnded counts the file. An evaluation that ends without an outcome
   * does not count: its file becomes READY again, as before.
   */
  readonly endsSync?: true;
}

/** Receives how many files one write has ended, after the commit. */
export type FilesEnded = (status: FileSyncStatus, files: number) => void;

/** States of files that wait in the queue, or for the end of a rate limit. The run starts them when they are due. */
const STARTABLE = ['QUEUED_FOR_SYNC', 'RATE_LIMITED'] as const satisfies FileSyncStatus[];
const ACTIVE_STATUSES = [...STARTABLE, ...IN_PROGRESS_STATUSES] as const;
const STARTED = ['SYNCING', 'QUEUED_FOR_OCR'] as const satisfies FileSyncStatus[];
const OPEN = [...WAITING_FILE_STATUSES, ...IN_PROGRESS_STATUSES] as const;
/**
 * States of idle files that a scheduled sync syncs again. READY_TO_SYNC is excluded: a caller decided that the file has
 * no content.
 */
const RETRIED_BY_SCHEDULED_SYNC = ['READY', 'SYNC_ERROR', 'SYNC_ABORTED'] as const satisfies FileSyncStatus[];
const EVALUATING = ['EVALUATING_RESYNC'] as const satisfies FileSyncStatus[];

const each =
  (events: (file: EventFile, message: string | null) => NewEvent[]): Emits =>
  (files, { message = null }) =>
    files.flatMap((file) => events(file, message));
const ready = each(fileEvents.ready);
const syncing = each(fileEvents.syncing);
const failed = each(fileEvents.failed);
const aborted: Emits = (files, { message }) => fileEvents.aborted(files, message ?? '');
const created: Emits = (files) => fileEvents.created(files);

/** Returns whether the start of a file writes the event that sparse vectors are queued: once per file and run. */
export const startsSparse = ({ sparseQueuedBy, runId, options }: EventFile): boolean =>
  sparseQueuedBy !== runId && wantsSparseVectors(options);

/**
 * Every change of a file's state. Each write in store/ names one row; test/store/fileTransitions.test.ts compares the
 * operations with this table, and test/store/fileStates.test.ts rejects a write that bypasses it.
 */
export const TRANSITIONS = {
  // New records. The restore transitions recreate files from quarantine.
  create: { from: [], to: 'QUEUED_FOR_SYNC', by: 'tenant', emits: created },
  createDelayed: { from: [], to: 'DELAYED', by: 'tenant', emits: created },
  restore: { from: [], to: 'READY', by: 'tenant', emits: ready },
  /** For a file that was never read. */
  restoreUnread: { from: [], to: 'SYNC_ABORTED', by: 'tenant' },
  /** For a file whose vectors could not be restored. */
  restoreFailed: { from: [], to: 'SYNC_ERROR', by: 'tenant' },

  // A request or a scheduled sync assigns an existing file to a run.
  accept: { from: FILE_SYNC_STATUSES, to: 'QUEUED_FOR_SYNC', by: 'tenant' },
  acceptDelayed: { from: FILE_SYNC_STATUSES, to: 'DELAYED', by: 'tenant' },
  queueAgain: { from: FINAL_FILE_STATUSES, to: 'QUEUED_FOR_SYNC', by: 'tenant' },
  scheduledEvaluate: { from: ['READY'], to: 'EVALUATING_RESYNC', by: 'tenant' },
  scheduledQueue: { from: RETRIED_BY_SCHEDULED_SYNC, to: 'QUEUED_FOR_SYNC', by: 'tenant' },
  scheduledDelay: { from: RETRIED_BY_SCHEDULED_SYNC, to: 'DELAYED', by: 'tenant' },

  // Delays.
  delayNewest: { from: ['QUEUED_FOR_SYNC'], to: 'DELAYED', by: 'run' },
  releaseDelayed: { from: ['DELAYED'], to: 'QUEUED_FOR_SYNC', by: 'run' },
  /** For an upload whose run was held because the user's queue was full. */
  releaseHeld: { from: ['DELAYED'], to: 'QUEUED_FOR_SYNC', by: 'tenant' },

  // An attempt.
  start: {
    from: STARTABLE,
    to: 'SYNCING',
    by: 'run',
    emits: (files, detail) => [
      ...syncing(files, detail),
      ...files.filter(startsSparse).map((file) => fileEvents.sparseQueued(file)),
    ],
  },
  startChanged: { from: EVALUATING, to: 'SYNCING', by: 'run', emits: syncing },
  deferToOcr: { from: ['SYNCING'], to: 'QUEUED_FOR_OCR', by: 'run' },
  release: { from: ['SYNCING'], to: 'QUEUED_FOR_SYNC', by: 'run' },
  requeue: { from: STARTED, to: 'QUEUED_FOR_SYNC', by: 'run' },
  limit: {
    from: IN_PROGRESS_STATUSES,
    to: 'RATE_LIMITED',
    by: 'run',
    emits: each((file, message) => fileEvents.rateLimited(file, message ?? '')),
  },
  /** The event is written once per run. */
  delay: {
    from: IN_PROGRESS_STATUSES,
    to: 'DELAYED',
    by: 'run',
    emits: each((file) => [uploadEvent('FILE_SYNC_LIMIT_REACHED', file)]),
  },

  // The end of a sync.
  finish: { from: IN_PROGRESS_STATUSES, to: 'READY', by: 'run', emits: ready, endsSync: true },
  finishUnchanged: { from: STARTED, to: 'READY', by: 'run', emits: ready, endsSync: true },
  keepEvaluated: { from: EVALUATING, to: 'READY', by: 'run', endsSync: true },
  endEvaluation: { from: EVALUATING, to: 'READY', by: 'run' },
  endEvaluationsOfSource: { from: EVALUATING, to: 'READY', by: 'tenant' },
  skipContent: {
    from: ['SYNCING'],
    to: 'READY_TO_SYNC',
    by: 'run',
    emits: (files) => fileEvents.skipped(files, 'skip_file_processing'),
    endsSync: true,
  },
  fail: { from: OPEN, to: 'SYNC_ERROR', by: 'run', emits: failed, endsSync: true },
  abort: { from: OPEN, to: 'SYNC_ABORTED', by: 'run', emits: aborted, endsSync: true },
  abortQueued: { from: WAITING_FILE_STATUSES, to: 'SYNC_ABORTED', by: 'tenant', emits: aborted, endsSync: true },

  // Containers.
  containerStart: {
    from: ACTIVE_STATUSES,
    to: 'SYNCING',
    by: 'run',
    emits: (files, detail) =>
      syncing(
        files.filter(({ syncStatus }) => syncStatus !== 'SYNCING'),
        detail,
      ),
  },
  /** All children are queued. The event is written once per run. */
  containerDiscovered: {
    from: ACTIVE_STATUSES,
    to: 'SYNCING',
    by: 'run',
    emits: (files, { isScheduled = false }) => files.flatMap((file) => fileEvents.discovered(file, isScheduled)),
  },
  containerPause: { from: ACTIVE_STATUSES, to: 'QUEUED_FOR_SYNC', by: 'run' },
  containerFinish: { from: ACTIVE_STATUSES, to: 'READY', by: 'run', emits: ready },
  containerFail: { from: ACTIVE_STATUSES, to: 'SYNC_ERROR', by: 'run', emits: failed },

  // Deletion of vectors and content.
  loseVectors: { from: ['READY', 'SYNC_ERROR'], to: 'SYNC_ERROR', by: 'tenant', emits: failed },
  takeOverForDelete: { from: FILE_SYNC_STATUSES, to: 'SYNC_ABORTED', by: 'tenant' },
  /** The event is written if the delete request asks for it. */
  empty: { from: ['SYNC_ABORTED'], to: 'READY_TO_SYNC', by: 'tenant', emits: each(fileEvents.deleted) },
} as const satisfies Record<string, Row>;

export type Transition = keyof typeof TRANSITIONS;

const row = (name: Transition): Row => TRANSITIONS[name];

/** The run or the tenant, as the transition requires. */
type Owner<N extends Transition> = (typeof TRANSITIONS)[N]['by'] extends 'run' ? { readonly runId: number } : Tenant;

/** Fields written with a state; the state itself comes from the row. */
type Fields = { readonly syncStatus?: never } & Readonly<Record<string, unknown>>;

export interface Change<N extends Transition = Transition> {
  readonly owner: Owner<N>;
  /** Selects files of the owner. */
  readonly where: QueryFilter<FileDoc>;
  /** The state in which the file was read, if it must not have changed since. */
  readonly seen?: FileSyncStatus;
  /** Sync message of the file, also reported by the event; absent: the earlier one stays. */
  readonly message?: string | null;
  readonly set?: Fields;
  readonly inc?: Readonly<Record<string, number>>;
  readonly unset?: Readonly<Record<string, 1>>;
  readonly isScheduled?: boolean;
}

/** Filter and update of one state change. */
export interface Write {
  readonly filter: QueryFilter<FileDoc>;
  readonly update: {
    readonly $set: Readonly<Record<string, unknown>>;
    readonly $inc?: Readonly<Record<string, number>>;
    readonly $unset?: Readonly<Record<string, 1>>;
  };
}

/**
 * Builds the write of a transition. The filter requires the owner and one of the allowed states. A write of a run that
 * no longer owns the file changes nothing. Neither does a repeated write, unless `from` contains the new state.
 */
export function transition<N extends Transition>(
  name: N,
  { owner, where, seen, message, set, inc, unset }: Change<N>,
): Write {
  const { from, to } = row(name);
  const { runId, organizationId, userId } = owner as Tenant & { runId: number };
  const allowed = from.filter((status) => seen === undefined || status === seen);
  return {
    filter: {
      ...where,
      ...(row(name).by === 'run' ? { runId } : { organizationId, userId }),
      // If all states are allowed, the filter omits the state: a condition could make the planner use another index.
      ...(allowed.length < FILE_SYNC_STATUSES.length && { syncStatus: { $in: allowed } }),
    },
    update: {
      $set: {
        updatedAt: new Date(),
        ...set,
        ...(message !== undefined && { syncErrorMessage: message }),
        syncStatus: to,
      },
      ...(inc && { $inc: inc }),
      ...(unset && { $unset: unset }),
    },
  };
}

/** Returns the events of files that make the transition. @param before records of the files before the transition */
export const transitionEvents = (name: Transition, before: readonly TransitioningFile[], detail: Detail): NewEvent[] =>
  row(name).emits?.(before, detail) ?? [];

/** Reports the number of files that have made a transition, if it ends their sync. */
export function reportEnded(name: Transition, files: number, report: FilesEnded): void {
  const { to, endsSync = false } = row(name);
  if (endsSync && files > 0) report(to, files);
}

/** Returns the state of a new record. */
export const stateOf = (
  name: 'create' | 'createDelayed' | 'restore' | 'restoreUnread' | 'restoreFailed',
): Pick<FileDoc, 'syncStatus'> => ({ syncStatus: row(name).to });

/** Returns whether a run may start a file in its state. */
export const isStartable = ({ syncStatus }: Pick<FileDoc, 'syncStatus'>): boolean =>
  row('start').from.includes(syncStatus);

/** Filter of files and containers on which a run still works. */
export const activeStatus = { $in: [...ACTIVE_STATUSES] };

/** Fields of a file whose attempt has ended, with any outcome. */
export const ATTEMPT_ENDED = { unfinishedStarts: 0, notBefore: null, ocrPages: null } as const;

/** Fields of a file that is assigned to a run. */
export const RESET_BY_NEW_SYNC = { attempts: 0, unfinishedStarts: 0, notBefore: null, ended: null } as const;

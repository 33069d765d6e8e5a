/**
 * Signals, queries, inputs and results of workflows and their steps. All are JSON: ids, numbers, states and messages of
 * errors, never contents of files.
 */
import type { AttemptState } from '../accounts/oauth.js';
import type { FaultKind } from '../failures.js';

/** Maximum number of files per batch activity. */
export const BATCH_SIZE = 50;

/** Maximum bytes of uploaded contents per batch, so that a batch of large files ends soon. */
export const BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Time slice in milliseconds. After it, a batch starts no more files, and OCR of a file starts no more pages. The
 * remaining work returns to the queue, behind the work of other users.
 */
export const TIME_SLICE_MS = 5_000;

/** ApplicationFailure type of a step whose time slice is over. The retry of the step waits for its next time slice. */
export const TIME_SLICE_OVER_FAILURE = 'TurnOver';

/** The first batch of a run is small, so that the first chunk is searchable early. */
export const FIRST_BATCH_SIZE = 4;

/** Input of every run's workflow. The options are stored in the run's row, not in the history. */
export interface RunInput {
  readonly runId: number;
}

export interface IngestRunInput extends RunInput {
  /** Where a continued workflow resumes; absent on the first execution. */
  readonly resume?: {
    readonly discovered: number;
    readonly afterId: number;
    readonly counts: BatchResult;
    readonly deletesGonePages?: boolean;
  };
}

export interface BegunRun {
  /** Whether an earlier execution has finished the run. */
  readonly finished: boolean;
  /** Whether the run deletes files of pages that the site no longer has, when it ends. */
  readonly deletesGonePages?: boolean;
}

/** Signals new uploads to the user's upload stream. */
export const UPLOADS_QUEUED_SIGNAL = 'uploadsQueued';

/** The user of an upload stream. */
export interface UploadStreamInput {
  readonly organizationId: number;
  readonly userId: number;
}

export interface PlanUploadsInput extends UploadStreamInput {
  /** Runs of the batches in progress. */
  readonly except: readonly number[];
  /** Number of batches in progress. */
  readonly underWay: number;
}

export interface PlanUploadsResult {
  /** Runs of uploads, grouped by batch. */
  readonly batches: readonly (readonly number[])[];
  /** Maximum number of concurrent batches: a setting, recorded in the history by this result. */
  readonly window: number;
}

export interface UploadBatchInput extends UploadStreamInput {
  readonly runIds: readonly number[];
}

/** Result of one batch; also the sum over a run. */
export interface BatchResult {
  readonly ready: number;
  readonly failed: number;
  /** Files that returned to the queue for a later attempt, or became DELAYED because of a limit. */
  readonly requeued: number;
  /** Files that another run or a deletion took over. */
  readonly superseded: number;
}

export const EMPTY_BATCH_RESULT: BatchResult = { ready: 0, failed: 0, requeued: 0, superseded: 0 };

export interface IngestBatchInput extends RunInput {
  readonly fileIds: readonly number[];
  /** Whether the links of pages are stored for the crawl. */
  readonly keepLinks?: boolean;
}

export interface IngestBatchResult extends BatchResult {
  /**
   * Whether the run reached its token limit; the remaining files of the batch then wait in the queue. Absent: false.
   */
  readonly paused?: true;
  /** Files that were in progress when workers crashed twice; each is then ingested alone. */
  readonly alone: readonly number[];
  /** Recordings that must be transcribed before they can be read. Absent: none. */
  readonly toTranscribe?: readonly number[];
  /** Files with pages that need OCR before they can be read. Absent: none. */
  readonly toRecognize?: readonly number[];
}

/** A step that a file may need before it can be read. It has its own task queue. */
export type DeferredStep = 'transcribe' | 'recognize';

/** A deferred file. */
export interface DeferredInput extends RunInput {
  readonly fileId: number;
}

export interface DeferredResult {
  /** Whether the file can be read now. Otherwise it has ended, or is retried later. */
  readonly done: boolean;
}

export interface PlanBatchesInput extends RunInput {
  readonly afterId: number;
  /** Maximum number of batches. */
  readonly limit: number;
}

export interface PlanBatchesResult {
  readonly batches: readonly (readonly number[])[];
  /** Maximum number of concurrent batches: a setting, recorded in the history by this result. */
  readonly window: number;
  /** The cursor for the next call; 0 at the end of the list. */
  readonly afterId: number;
  /** At the end of the list: milliseconds until a requeued file is due; null if none waits. */
  readonly dueInMs: number | null;
}

/** Signals that a paused run was resumed. The workflow then reads the run's row. */
export const RESUME_SIGNAL = 'resumeRun';

/** Why a run is paused until it is resumed. */
export type PauseReason = 'max_tokens';

/** The pause of a run, as stored in its row. */
export interface PauseState {
  /** Whether the run was resumed. */
  readonly isOver: boolean;
  /** Milliseconds until the pause reaches its maximum duration; 0 when it is over. */
  readonly endsInMs: number;
}

/** Signals that the user has returned from the provider. */
export const CONSENT_RETURNED_SIGNAL = 'consentReturned';

/** The connection attempt, as stored in its row. */
export interface ConnectionState {
  readonly state: AttemptState;
  /** Milliseconds until the attempt expires. */
  readonly dueInMs: number;
}

export interface EndConnectionInput extends RunInput {
  readonly outcome: 'failed' | 'cancelled';
  /** The reason of a failure. */
  readonly message?: string;
}

/** Progress of the listing of a data source's items. Its position is stored in the run's row. */
export interface ListItemsResult {
  readonly done: boolean;
  /** Number of items found so far. */
  readonly listed: number;
}

export interface SyncItemsInput extends RunInput {
  /** Whether an earlier execution has started the listing. */
  readonly isContinued?: boolean;
}

export interface EndListingInput extends RunInput {
  readonly outcome: 'finished' | 'failed' | 'aborted';
  /** The reason of a failure. */
  readonly message?: string;
  /**
   * The kind of the failure; null if it is unknown. Absent if the last attempt reported no cause, for example after a
   * timeout: then the last error stored in the run's row applies.
   */
  readonly cause?: FaultKind | null;
}

/** Progress of queueing the files of a selection. */
export interface QueueItemsResult {
  readonly done: boolean;
  /** Number of files queued so far. */
  readonly discovered: number;
}

/** Progress of a crawl after the links of all pages read so far were followed. */
export interface FollowLinksResult {
  /** Number of pages accepted so far. */
  readonly discovered: number;
  /** Milliseconds until an open page is due, 0 for now; null if no page is open and no link is left. */
  readonly dueInMs: number | null;
}

export interface RunOutcome {
  readonly outcome: 'finished' | 'failed' | 'already_finished';
  readonly discovered: number;
  readonly counts: BatchResult;
}

export interface DeleteFilesInput extends RunInput {
  /** Where a continued workflow resumes; absent on the first execution. */
  readonly afterId?: number;
}

export interface DeliverEventsInput {
  readonly webhookId: number;
}

/** Result of a delivery batch for one receiver. */
export interface DeliverBatchResult {
  /** Whether the webhook was deleted or disabled. */
  readonly ended: boolean;
  /** Whether the next batch may find events immediately. */
  readonly more: boolean;
  /** Milliseconds until a delivery is retried; null if none waits. */
  readonly dueInMs: number | null;
}

/** Signals new events for a receiver. */
export const EVENTS_QUEUED_SIGNAL = 'eventsQueued';

export interface UpdateTagsInput extends RunInput {
  /** Where a continued workflow resumes; absent on the first execution. */
  readonly afterId?: number;
}

export interface CopyTagsResult {
  /** Whether the latest tags were copied to every file and point. */
  readonly done: boolean;
  /** The cursor for the next call; 0 at the end of an iteration. */
  readonly afterId: number;
}

/** Counts of a re-embedding run. */
export interface ReembedCounts {
  readonly reembedded: number;
  /** Files that keep their vectors, for one of REEMBED_SKIP_REASONS. */
  readonly skipped: number;
  readonly failed: number;
}

export const NOTHING_REEMBEDDED: ReembedCounts = { reembedded: 0, skipped: 0, failed: 0 };

/** Progress of a re-embedding run's plan. */
export interface ReembedCursor {
  readonly afterId: number;
  /** Tokens of the files planned so far. */
  readonly tokens: number;
}

export interface ReembedInput extends RunInput {
  /** Where a continued workflow resumes; absent on the first execution. */
  readonly resume?: ReembedCursor & { readonly counts: ReembedCounts };
}

export interface PlanReembedResult extends ReembedCursor {
  readonly batches: readonly (readonly number[])[];
  /** Files that were checked and are in no batch. */
  readonly skipped: number;
  /** Maximum number of concurrent batches. */
  readonly window: number;
  /** Whether the plan is complete. */
  readonly ended: boolean;
}

/** Result of the query `progress` of a re-embedding run. */
export interface ReembedProgress {
  readonly phase: 'embedding' | 'finishing' | 'done';
  readonly counts: ReembedCounts;
}

export interface MoveStorageInput extends RunInput {
  /** Where a continued workflow resumes; absent on the first execution. */
  readonly afterId?: number;
}

export interface MovePlan {
  /** Files that this run has reserved and moves now. */
  readonly fileIds: readonly number[];
  /** The cursor for the next call; null if nothing is left. */
  readonly afterId: number | null;
  /** Whether another run still uses matching files, which are planned later. */
  readonly waiting: boolean;
}

/** Result of the query `progress`. */
export interface RunProgress {
  readonly phase: 'starting' | 'discovering' | 'ingesting' | 'waiting' | 'paused' | 'finishing' | 'done';
  readonly discovered: number;
  readonly counts: BatchResult;
}

export const PROGRESS_QUERY = 'progress';

/** ApplicationFailure type of a Fault, and of a defect that a retry cannot fix. */
export const FAULT_FAILURE = 'Fault';

/** ApplicationFailure type of a step whose run no longer has a row. */
export const RUN_MISSING_FAILURE = 'RunMissing';

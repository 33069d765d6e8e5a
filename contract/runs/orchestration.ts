/**
 * Names and types shared by client, workers and workflows: queues, workflow ids, inputs and results. All are JSON with
 * ids and counts only.
 */
import type { FaultKind } from '../failures.js';
import type { AttemptState } from '../accounts/oauth.js';

/** Default of the setting TASK_QUEUE. The queue in Temporal also contains the deployment id. */
export const TASK_QUEUE = 'allotrope';

/** Search attributes (all Keyword) under which operators find a run in Temporal's Web UI. */
export const SEARCH_ATTRIBUTES = ['OrganizationId', 'UserId', 'DataSourceId', 'FileId', 'RequestId'] as const;
export type SearchAttributeName = (typeof SEARCH_ATTRIBUTES)[number];

/** Maximum number of files per batch activity. */
export const BATCH_SIZE = 50;
/** Maximum bytes of uploaded contents per batch, so that a batch of large files ends soon. */
export const BATCH_BYTES = 8 * 1024 * 1024;
/**
 * After this time in milliseconds a batch starts no more files, and OCR of a file no more pages. The rest returns to
 * the queue behind other users.
 */
export const TURN_MS = 5_000;
/** ApplicationFailure type of a step whose time slice is over. Its retry waits for the next one. */
export const TURN_OVER_FAILURE = 'TurnOver';
/** The first batch of a run is small, so that the first chunk is searchable early. */
export const FIRST_BATCH_SIZE = 4;

/** The kinds of accepted work; each is the name of its workflow. */
export const RUN_KINDS = [
  'scrapeSitemap',
  'webScrape',
  'syncFeed',
  'syncUpload',
  'connectByConsent',
  'syncItems',
  'syncSource',
  'resyncFile',
  'deleteFiles',
  'deleteUser',
  'recountFiles',
  'updateTags',
  'reembedFiles',
  'moveStorage',
  'settleQuarantine',
  'autoSync',
] as const;
export type RunKind = (typeof RUN_KINDS)[number];
/** The kinds that find files and ingest them below a container. */
export type ContainerRunKind = Extract<RunKind, 'scrapeSitemap' | 'webScrape' | 'syncFeed'>;

/** Whether a run ingests an upload: files of one request, whose completion is an event. */
export const IS_UPLOAD: Readonly<Record<RunKind, boolean>> = {
  scrapeSitemap: true,
  syncUpload: true,
  connectByConsent: false,
  syncItems: false,
  syncSource: true,
  resyncFile: false,
  webScrape: true,
  syncFeed: true,
  deleteFiles: false,
  deleteUser: false,
  recountFiles: false,
  updateTags: false,
  reembedFiles: false,
  moveStorage: false,
  settleQuarantine: false,
  // Its child runs report what they ingest.
  autoSync: false,
};

/**
 * Kinds whose work no other run repeats. A run that was terminated externally is started again, up to MAX_RUN_RESTARTS
 * times.
 */
export const REDONE_KINDS: readonly RunKind[] = ['updateTags', 'recountFiles', 'moveStorage', 'settleQuarantine'];
export const MAX_RUN_RESTARTS = 3;

/**
 * Keys of workflows. All are built here, so that a repeated request finds the running workflow. Records store keys; the
 * id in Temporal is the key with the deployment id as prefix (`temporalNames`).
 */
export const workflowIds = {
  scrape: (parentFileId: number): string => `scrape:${parentFileId}`,
  feed: (parentFileId: number): string => `feed:${parentFileId}`,
  upload: (fileId: number): string => `upload:${fileId}`,
  uploads: (userId: number): string => `uploads:${userId}`,
  connect: (runId: number): string => `connect:${runId}`,
  syncItems: (dataSourceId: number): string => `sync-items:${dataSourceId}`,
  syncSource: (runId: number): string => `sync-source:${runId}`,
  resync: (fileId: number): string => `resync:${fileId}`,
  retry: (runId: number): string => `retry:${runId}`,
  updateTags: (dataSourceId: number): string => `update-tags:${dataSourceId}`,
  updateFileTags: (fileId: number): string => `update-file-tags:${fileId}`,
  delete: (runId: number): string => `delete:${runId}`,
  deliverEvents: (webhookId: number): string => `deliver-events:${webhookId}`,
  deleteUser: (userId: number): string => `delete-user:${userId}`,
  moveToCold: (userId: number): string => `move-to-cold:${userId}`,
  moveToHot: (runId: number): string => `move-to-hot:${runId}`,
  modifyStorage: (runId: number): string => `modify-storage:${runId}`,
  eraseQuarantine: (userId: number): string => `erase-quarantine:${userId}`,
  restore: (runId: number): string => `restore:${runId}`,
  recount: (organizationId: number): string => `recount:${organizationId}`,
  reembed: (runId: number): string => `reembed:${runId}`,
};

/** Keys of schedules; they are prefixes of the keys of the workflows that the schedules start. */
export const scheduleIds = {
  source: (dataSourceId: number): string => `auto-sync:${dataSourceId}`,
  container: (fileId: number): string => `auto-scrape:${fileId}`,
};

/** The workflow id of a container's run by its kind. A file has one kind, so both scrapes can share a prefix. */
export const CONTAINER_WORKFLOW_IDS: Readonly<Record<ContainerRunKind, (containerId: number) => string>> = {
  scrapeSitemap: workflowIds.scrape,
  webScrape: workflowIds.scrape,
  syncFeed: workflowIds.feed,
};

/** Fairness keys: Temporal serves the keys of a task queue in turn. */
export const fairnessKeys = {
  work: (organizationId: number | string, userId: number | string): string => `${organizationId}:${userId}`,
  deletes: (organizationId: number, userId: number): string => `${organizationId}:${userId}:deletes`,
};

/** The header of workflows and activities with the trace context, named as in Temporal's SDKs. */
export const TRACE_HEADER = '_tracer-data';

/** Input of every run's workflow. The options are stored in the run's row; the history contains only its id. */
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
  /** Runs of batches in progress. */
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
  /** Returned to the queue for a later attempt, or held by a limit. */
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
  /** The run reached its token limit, and the rest of the batch waits in the queue. Absent: it did not. */
  readonly paused?: true;
  /** Files that were in progress at two worker crashes. They run alone. */
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
  /** Whether the file can be read now. Otherwise it has ended, or is due later. */
  readonly done: boolean;
}

/** Transcriptions have their own task queue, so that waiting for a service occupies no slots of the readers. */
export const transcriptionQueue = (taskQueue: string): string => `${taskQueue}-transcriptions`;

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

/** Wakes a paused run, which then reads its row. */
export const RESUME_SIGNAL = 'resumeRun';

/** Why a run is paused until it is resumed. */
export type PauseReason = 'max_tokens';

/** The pause of a run, as stored in its row. */
export interface PauseState {
  /** Whether the run was resumed. */
  readonly isOver: boolean;
  /** Milliseconds until the pause reaches its longest time; 0 when it is over. */
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
  /** The kind of the failure. Absent if the last attempt reported none: the last known cause applies. */
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
  /** Whether the next batch may find events at once. */
  readonly more: boolean;
  /** Milliseconds until a delivery is retried; null if none waits. */
  readonly dueInMs: number | null;
}

/** Signals new events for a receiver. */
export const EVENTS_QUEUED_SIGNAL = 'eventsQueued';

/** Deliveries have their own task queue, so that slow receivers do not delay ingests, nor ingests deliveries. */
export const deliveryQueue = (taskQueue: string): string => `${taskQueue}-webhooks`;

/** OCR has its own task queue, so that files with text never wait for it. */
export const ocrQueue = (taskQueue: string): string => `${taskQueue}-ocr`;

export interface UpdateTagsInput extends RunInput {
  /** Where a continued workflow resumes; absent on the first execution. */
  readonly afterId?: number;
}

export interface CopyTagsResult {
  /** Whether the latest version was copied to every file and point. */
  readonly done: boolean;
  /** The cursor for the next call; 0 at the end of a round. */
  readonly afterId: number;
}

/** Counts of a re-embedding run. */
export interface ReembedCounts {
  readonly reembedded: number;
  /** Files that keep their vectors for a reason that needs no action. */
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
  /** Whether files are left that another run uses. They must wait. */
  readonly waiting: boolean;
}

/** Input of the workflow that a schedule starts. */
export interface AutoSyncInput {
  readonly scheduleId: string;
  /** Where a continued workflow resumes; absent on the first execution. */
  readonly resume?: {
    readonly runId: number;
    /** Number of finished child runs. */
    readonly parts: number;
    /** Id of the last finished child run. */
    readonly lastRunId: number;
  };
}

/** Why an automatic sync does not run. */
export type NoSyncReason = 'gone' | 'off' | 'revoked' | 'busy' | 'paused';

/** A run that is a part of a pass, with what its workflow is found by. */
export interface AutoSyncPart {
  readonly runId: number;
  readonly kind: RunKind;
  readonly workflowId: string;
  readonly attributes: Readonly<Partial<Record<SearchAttributeName, string>>>;
}

/** An accepted automatic sync, or the reason why it does not run. */
export type AcceptAutoSyncResult = { readonly runId: number } | { readonly runId: null; readonly reason: NoSyncReason };

export interface NextPartResult {
  /** Null: no child run is left. */
  readonly part: AutoSyncPart | null;
}

export interface EndAutoSyncInput extends RunInput {
  readonly outcome: 'finished' | 'failed' | 'aborted';
}

export interface AutoSyncResult {
  readonly outcome: 'finished' | 'failed' | NoSyncReason;
  readonly parts: number;
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

/** ApplicationFailure type of a step whose run has no row any longer. */
export const RUN_MISSING_FAILURE = 'RunMissing';

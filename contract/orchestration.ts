/**
 * What client, worker and workflows agree on: queue, workflow ids, inputs and results. JSON only, ids and counts only.
 */
import type { FaultKind } from './failures.js';
import type { AttemptState } from './oauth.js';

/** Default of the setting TASK_QUEUE. The queue in Temporal also contains the deployment id. */
export const TASK_QUEUE = 'allotrope';

/** Search attributes (all Keyword) under which operators find a run in Temporal's Web UI. */
export const SEARCH_ATTRIBUTES = ['OrganizationId', 'UserId', 'DataSourceId', 'FileId', 'RequestId'] as const;
export type SearchAttributeName = (typeof SEARCH_ATTRIBUTES)[number];

/** Files one batch activity takes at most. */
export const BATCH_SIZE = 50;
/** Bytes of sent contents in one batch of uploads, so that a batch of large files ends soon. */
export const BATCH_BYTES = 8 * 1024 * 1024;
/**
 * After this time in milliseconds a batch begins no more files, and OCR of a file no more pages: the rest returns to the
 * queue, where other users have their turn.
 */
export const TURN_MS = 5_000;
/** ApplicationFailure type of a step whose turn is over: its retry waits for the next turn. */
export const TURN_OVER_FAILURE = 'TurnOver';
/** The first batch of a run, so that the first chunk is searchable at once. */
export const FIRST_BATCH_SIZE = 4;

/** The kinds of accepted work; each is the name of the workflow that does it. */
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
/** The kinds that find files and bring them in below a container. */
export type ContainerRunKind = Extract<RunKind, 'scrapeSitemap' | 'webScrape' | 'syncFeed'>;

/** Whether a run brings in an upload: files of one request, whose common end is an event. */
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
  // What it brings in is told by its parts.
  autoSync: false,
};

/** Kinds whose work nobody else makes up for: a run that was ended from outside begins anew, so many times at most. */
export const REDONE_KINDS: readonly RunKind[] = ['updateTags', 'recountFiles', 'moveStorage', 'settleQuarantine'];
export const MOST_REDONE = 3;

/**
 * Keys of workflows, built here and nowhere else: a repeated request meets the running workflow. Records store keys;
 * Temporal's id is the key with the deployment id in front (`temporalNames`).
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

/** Keys of schedules; the keys of the workflows that they start begin with them. */
export const scheduleIds = {
  source: (dataSourceId: number): string => `auto-sync:${dataSourceId}`,
  container: (fileId: number): string => `auto-scrape:${fileId}`,
};

/** The workflow id of a container's run, by its kind: a file is of one kind, so the two scrapes can share a prefix. */
export const CONTAINER_WORKFLOW_IDS: Readonly<Record<ContainerRunKind, (containerId: number) => string>> = {
  scrapeSitemap: workflowIds.scrape,
  webScrape: workflowIds.scrape,
  syncFeed: workflowIds.feed,
};

/** Temporal serves the keys of a task queue in turn. */
export const fairnessKeys = {
  work: (organizationId: number | string, userId: number | string): string => `${organizationId}:${userId}`,
  deletes: (organizationId: number, userId: number): string => `${organizationId}:${userId}:deletes`,
};

/** The header of workflows and activities that says which trace they are part of, as Temporal's own SDKs call it. */
export const TRACE_HEADER = '_tracer-data';

/** What every run's workflow is given. The options lie in the run's row; history carries its id only. */
export interface RunInput {
  readonly runId: number;
}

export interface IngestRunInput extends RunInput {
  /** Where a continued workflow goes on; absent on the first execution. */
  readonly resume?: {
    readonly discovered: number;
    readonly afterId: number;
    readonly counts: BatchResult;
    readonly deletesGonePages?: boolean;
  };
}

export interface BegunRun {
  /** An earlier execution did it all. */
  readonly finished: boolean;
  /** At its end, it deletes files of pages that the site no longer has. */
  readonly deletesGonePages?: boolean;
}

/** New uploads of a user wait for its stream. */
export const UPLOADS_QUEUED_SIGNAL = 'uploadsQueued';

/** The user whose stream of uploads it is. */
export interface UploadStreamInput {
  readonly organizationId: number;
  readonly userId: number;
}

export interface PlanUploadsInput extends UploadStreamInput {
  /** Runs of batches that are under way. */
  readonly except: readonly number[];
  /** Batches that are under way. */
  readonly underWay: number;
}

export interface PlanUploadsResult {
  /** Runs of uploads, batch by batch. */
  readonly batches: readonly (readonly number[])[];
  /** Maximum number of batches under way: a setting, recorded in the history by this result. */
  readonly window: number;
}

export interface UploadBatchInput extends UploadStreamInput {
  readonly runIds: readonly number[];
}

/** What one batch did; also the sum over a run. */
export interface BatchResult {
  readonly ready: number;
  readonly failed: number;
  /** Put back into the queue for a later try, or held back by a limit. */
  readonly requeued: number;
  /** No longer this run's: another run or a delete took the file over. */
  readonly superseded: number;
}

export const EMPTY_BATCH_RESULT: BatchResult = { ready: 0, failed: 0, requeued: 0, superseded: 0 };

export interface IngestBatchInput extends RunInput {
  readonly fileIds: readonly number[];
  /** Whether what the pages link to is kept for the run's crawl. */
  readonly keepLinks?: boolean;
}

export interface IngestBatchResult extends BatchResult {
  /** The run has come to its bound of tokens, and what is left of the batch waits in the queue; absent: it has not. */
  readonly paused?: true;
  /** Files that were under way at two worker deaths: to be run alone. */
  readonly alone: readonly number[];
  /** Recordings that must be transcribed before they can be read; absent where there is none. */
  readonly toTranscribe?: readonly number[];
  /** Files with pages that OCR must read first; absent where there is none. */
  readonly toRecognize?: readonly number[];
}

/** A step that a file may need before it can be read, on a task queue of its own. */
export type DeferredStep = 'transcribe' | 'recognize';

/** A deferred file. */
export interface DeferredInput extends RunInput {
  readonly fileId: number;
}

export interface DeferredResult {
  /** Whether the file can be read now; else it has ended, or is due later. */
  readonly done: boolean;
}

/** Transcriptions have a task queue of their own: whoever waits for a service takes no turn from what is read here. */
export const transcriptionQueue = (taskQueue: string): string => `${taskQueue}-transcriptions`;

export interface PlanBatchesInput extends RunInput {
  readonly afterId: number;
  /** Batches wanted at most. */
  readonly limit: number;
}

export interface PlanBatchesResult {
  readonly batches: readonly (readonly number[])[];
  /** Batches to have under way at once: a setting, brought into the history by this answer. */
  readonly window: number;
  /** The cursor for the next call; 0 when this pass is over. */
  readonly afterId: number;
  /** At the end of a pass: how long until a requeued file is due; null when none waits. */
  readonly dueInMs: number | null;
}

/** Wakes a paused run, which then reads its row. */
export const RESUME_SIGNAL = 'resumeRun';

/** Why a run is paused until somebody resumes it. */
export type PauseReason = 'max_tokens';

/** The pause of a run, as its row has it. */
export interface PauseState {
  /** Whether the run was resumed. */
  readonly isOver: boolean;
  /** Milliseconds until the pause reaches its longest time; 0 when it is over. */
  readonly endsInMs: number;
}

/** The person has returned from the provider. */
export const CONSENT_RETURNED_SIGNAL = 'consentReturned';

/** The attempt to connect, as its row has it. */
export interface ConnectionState {
  readonly state: AttemptState;
  /** Milliseconds that the person has left. */
  readonly dueInMs: number;
}

export interface EndConnectionInput extends RunInput {
  readonly outcome: 'failed' | 'cancelled';
  /** Why it failed. */
  readonly message?: string;
}

/** How far the listing of a data source's items has come. Where it goes on lies in the run's row. */
export interface ListItemsResult {
  readonly done: boolean;
  /** Items taken in so far. */
  readonly listed: number;
}

export interface SyncItemsInput extends RunInput {
  /** Whether an earlier execution has begun it. */
  readonly isContinued?: boolean;
}

export interface EndListingInput extends RunInput {
  readonly outcome: 'finished' | 'failed' | 'aborted';
  /** Why it failed. */
  readonly message?: string;
  /** The kind of that failure. Absent where the last attempt gave none: then the last known cause counts. */
  readonly cause?: FaultKind | null;
}

/** How far the files of a selection are queued. */
export interface QueueItemsResult {
  readonly done: boolean;
  /** Files queued so far. */
  readonly discovered: number;
}

/** How far a crawl has come once what was read so far is followed. */
export interface FollowLinksResult {
  /** Pages taken so far. */
  readonly discovered: number;
  /** How long until an open page is due: 0 at once; null when none is open, and nothing is left to follow. */
  readonly dueInMs: number | null;
}

export interface RunOutcome {
  readonly outcome: 'finished' | 'failed' | 'already_finished';
  readonly discovered: number;
  readonly counts: BatchResult;
}

export interface DeleteFilesInput extends RunInput {
  /** Where a continued workflow goes on; absent on the first execution. */
  readonly afterId?: number;
}

export interface DeliverEventsInput {
  readonly webhookId: number;
}

/** How a pass of deliveries to one receiver ended. */
export interface DeliverBatchResult {
  /** The webhook was deleted or disabled. */
  readonly ended: boolean;
  /** The next pass may find something at once. */
  readonly more: boolean;
  /** How long until a delivery is tried again; null when none waits. */
  readonly dueInMs: number | null;
}

/** There is something new for a receiver. */
export const EVENTS_QUEUED_SIGNAL = 'eventsQueued';

/** Deliveries have a task queue of their own: slow receivers hold up no ingest, nor ingests a delivery. */
export const deliveryQueue = (taskQueue: string): string => `${taskQueue}-webhooks`;

/** OCR has a task queue of its own: whatever it takes, files that have their text never wait for it. */
export const ocrQueue = (taskQueue: string): string => `${taskQueue}-ocr`;

export interface UpdateTagsInput extends RunInput {
  /** Where a continued workflow goes on; absent on the first execution. */
  readonly afterId?: number;
}

export interface CopyTagsResult {
  /** The version copied is the latest, and every file and point has it. */
  readonly done: boolean;
  /** The cursor for the next call; 0 when a pass is over. */
  readonly afterId: number;
}

/** What of a run's files was embedded anew, and what was not. */
export interface ReembedCounts {
  readonly reembedded: number;
  /** They keep their vectors, for a reason that is none of theirs to mend. */
  readonly skipped: number;
  readonly failed: number;
}

export const NOTHING_REEMBEDDED: ReembedCounts = { reembedded: 0, skipped: 0, failed: 0 };

/** How far the plan of a run has come. */
export interface ReembedCursor {
  readonly afterId: number;
  /** Of the files planned so far. */
  readonly tokens: number;
}

export interface ReembedInput extends RunInput {
  /** Where a continued workflow goes on; absent on the first execution. */
  readonly resume?: ReembedCursor & { readonly counts: ReembedCounts };
}

export interface PlanReembedResult extends ReembedCursor {
  readonly batches: readonly (readonly number[])[];
  /** Files that were looked at and are in no batch. */
  readonly skipped: number;
  /** Batches to have under way at once. */
  readonly window: number;
  /** Nothing comes after these. */
  readonly ended: boolean;
}

/** Answer of the query `progress` of a run of re-embedding. */
export interface ReembedProgress {
  readonly phase: 'embedding' | 'finishing' | 'done';
  readonly counts: ReembedCounts;
}

export interface MoveStorageInput extends RunInput {
  /** Where a continued workflow goes on; absent on the first execution. */
  readonly afterId?: number;
}

export interface MovePlan {
  /** Files whose vectors this run is to move now: they are its own. */
  readonly fileIds: readonly number[];
  /** The cursor for the next call; null when nothing is left. */
  readonly afterId: number | null;
  /** Nothing can be done now, for another run is at work on what is left. */
  readonly waiting: boolean;
}

/** What a schedule starts a pass with. */
export interface AutoSyncInput {
  readonly scheduleId: string;
  /** Where a continued workflow goes on; absent on the first execution. */
  readonly resume?: {
    readonly runId: number;
    /** Parts that have ended. */
    readonly parts: number;
    /** The run of the last of them. */
    readonly lastRunId: number;
  };
}

/** Why there is nothing to do for a pass. */
export type NoPass = 'gone' | 'off' | 'revoked' | 'busy' | 'paused';

/** A run that is a part of a pass, with what its workflow is found by. */
export interface PassPart {
  readonly runId: number;
  readonly kind: RunKind;
  readonly workflowId: string;
  readonly attributes: Readonly<Partial<Record<SearchAttributeName, string>>>;
}

/** A pass that was accepted; null: `reason` says why not. */
export type AcceptPassResult = { readonly runId: number } | { readonly runId: null; readonly reason: NoPass };

export interface NextPartResult {
  /** Null: there is no more to do. */
  readonly part: PassPart | null;
}

export interface EndPassInput extends RunInput {
  readonly outcome: 'finished' | 'failed' | 'aborted';
}

export interface AutoSyncResult {
  readonly outcome: 'finished' | 'failed' | NoPass;
  readonly parts: number;
}

/** Answer of the query `progress`. */
export interface RunProgress {
  readonly phase: 'starting' | 'discovering' | 'ingesting' | 'waiting' | 'paused' | 'finishing' | 'done';
  readonly discovered: number;
  readonly counts: BatchResult;
}

export const PROGRESS_QUERY = 'progress';

/** ApplicationFailure type of a Fault, and of a defect that no retry mends. */
export const FAULT_FAILURE = 'Fault';

/** ApplicationFailure type of a step whose run has no row any more. */
export const RUN_MISSING_FAILURE = 'RunMissing';

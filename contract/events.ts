/**
 * Events of webhooks and GET /events: the kinds of the public interface, the types of their objects, and the exact
 * bytes of a delivery.
 */
import { type IngestOptions, wantsSparseVectors } from './files/ingestOptions.js';
import { WEB_PAGE_SOURCE } from './runs/scrapeSitemap.js';
import type { SourceType } from './sources/sources.js';
import type { DataSourceAction } from './files/statuses.js';
import type { WorkflowLink } from './runs/temporalLinks.js';

const OBJECT_TYPES = [
  'CHUNK_LIST',
  'DATA_SOURCE',
  'FILE',
  'FILE_LIST',
  'NONE',
  'ORGANIZATION_USER',
  'UPLOAD_REQUEST_ID',
  'WEBPAGE',
] as const;
export type EventObjectType = (typeof OBJECT_TYPES)[number];

/** Every kind of event with the type of its object. */
export const EVENT_KINDS = {
  FILES_CREATED: 'FILE_LIST',
  ALL_UPLOADED_FILES_QUEUED: 'UPLOAD_REQUEST_ID',
  FILE_SYNCING: 'FILE',
  FILE_READY: 'FILE',
  FILE_ERROR: 'FILE',
  RATE_LIMIT_ERROR: 'FILE',
  FILE_SYNC_LIMIT_REACHED: 'UPLOAD_REQUEST_ID',
  FILES_SKIPPED: 'FILE_LIST',
  FILE_DELETED: 'FILE',
  ALL_FILES_PROCESSED: 'UPLOAD_REQUEST_ID',
  SPARSE_VECTOR_QUEUE_STATUS: 'FILE',
  FILE_STATISTICS_AGGREGATED: 'NONE',
  MOVED_TO_COLD_STORAGE: 'FILE_LIST',
  MOVED_TO_HOT_STORAGE: 'FILE_LIST',
  EMBEDDING_STORAGE_MODIFIED: 'FILE_LIST',
  ADD: 'DATA_SOURCE',
  UPDATE: 'DATA_SOURCE',
  CANCEL: 'DATA_SOURCE',
  REVOKE: 'DATA_SOURCE',
  DATA_SOURCE_READY: 'DATA_SOURCE',
  WEBPAGE_READY: 'WEBPAGE',
  WEBPAGE_ERROR: 'WEBPAGE',
  WEBSCRAPE_URLS_READY: 'WEBPAGE',
  ORGANIZATION_USER_DELETED: 'ORGANIZATION_USER',
  CHECKUP: 'NONE',
} as const satisfies Record<string, EventObjectType>;
export type EventKind = keyof typeof EVENT_KINDS;

/** An item of a connected account for which no file exists. */
export interface EventItem {
  readonly external_id: string;
  readonly name: string;
}

/** Additional fields of an event. Booleans and numbers are strings in the body; null stays null. */
export type EventInfo = Readonly<Record<string, string | null | readonly EventItem[]>>;

/** An event before it is published: without time and position. */
export interface NewEvent {
  readonly kind: EventKind;
  readonly organizationId: number;
  /** The organization's id of the end user; '' for events that concern no user. */
  readonly customerId: string;
  /** Id or ids of the object, as text; null for kinds without an object. */
  readonly objectId: string | readonly string[] | null;
  readonly info: EventInfo | null;
  /**
   * The workflow that caused the event, or that was started by the request that caused it; null or absent if there is
   * none.
   */
  readonly workflowId?: string | null;
}

/** An event with the time at which it happened. */
export interface PublishedEvent extends Pick<NewEvent, 'kind' | 'customerId' | 'objectId' | 'info' | 'workflowId'> {
  readonly at: Date;
}

/** An event with its position in the organization's feed: 1, 2, 3…, in the order in which readers receive them. */
export interface NumberedEvent extends PublishedEvent {
  readonly position: number;
}

/** Returns the same id for every delivery of an event, so receivers can deduplicate. */
export const eventId = (organizationId: number, position: number): string => `evt_${organizationId}_${position}`;

/**
 * Returns the objects of an event. Events that share an object are delivered in order. A page is the same object as its
 * file.
 */
export function objectsOf({ kind, objectId }: Pick<NewEvent, 'kind' | 'objectId'>): string[] {
  const type = EVENT_KINDS[kind];
  const ids = objectId === null ? [''] : typeof objectId === 'string' ? [objectId] : objectId;
  const name = type === 'FILE_LIST' || type === 'WEBPAGE' ? 'FILE' : type;
  return ids.map((id) => `${name}:${id}`);
}

const NOT_ASCII = /[^ -~]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Formats JSON as existing receivers expect: a space after each comma and colon, non-ASCII characters escaped. */
function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${spacedJson(name)}: ${spacedJson(member)}`);
    return `{${members.join(', ')}}`;
  }
  return JSON.stringify(value).replaceAll(NOT_ASCII, escaped);
}

const posixSeconds = (at: Date): string => String(Math.floor(at.getTime() / 1000));

/**
 * Returns the fields of a webhook in the format of Carbon's hosted service. That service has shut down; its integrators
 * send their requests to this one, and their receivers expect its format.
 */
const hostedFields = ({ kind, customerId, objectId, info, at }: PublishedEvent) => ({
  webhook_type: kind,
  obj: {
    object_type: EVENT_KINDS[kind],
    object_id: objectId,
    // The string 'null' if there is no information, as receivers of the hosted service expect.
    additional_information: info ?? 'null',
  },
  customer_id: customerId,
  timestamp: posixSeconds(at),
});

/** Returns an event as lists and streams of events contain it: the fields of the hosted service come first. */
export const eventPayload = (event: PublishedEvent, workflowLink: WorkflowLink) => ({
  ...hostedFields(event),
  ...workflowLink(event.workflowId),
});

/**
 * Returns the body of a delivery: one key, whose value is the inner document as text. Without a workflow, the body
 * equals that of the hosted service.
 */
export function eventBody(event: PublishedEvent, workflowLink: WorkflowLink): string {
  const payload = { ...hostedFields(event), ...(event.workflowId ? workflowLink(event.workflowId) : {}) };
  return spacedJson({ payload: spacedJson(payload) });
}

/** Fields of a file that its events contain. */
export interface EventFile {
  readonly _id: number;
  readonly organizationId: number;
  readonly customerId: string;
  readonly source: SourceType;
  readonly isContainer: boolean;
  readonly requestId: string | null;
  readonly uploadId: string | null;
  readonly lastSync: Date | null;
  /** The run that announced sparse vectors in an event. */
  readonly sparseQueuedBy?: number | null;
  readonly runId: number | null;
  readonly workflowId: string | null;
  readonly options: IngestOptions;
}

const flag = (value: boolean): string => (value ? 'True' : 'False');
const ofFile = (file: EventFile, kind: EventKind, info: EventInfo): NewEvent => ({
  kind,
  organizationId: file.organizationId,
  customerId: file.customerId,
  objectId: String(file._id),
  info,
  workflowId: file.workflowId,
});
const isPage = ({ source, isContainer }: EventFile): boolean => source === WEB_PAGE_SOURCE && !isContainer;
const upload = ({ requestId, uploadId }: Pick<EventFile, 'requestId' | 'uploadId'>): EventInfo => ({
  request_id: requestId,
  upload_id: uploadId,
});

/** Returns one event per customer and request, with all its files. */
function ofLists(kind: EventKind, files: readonly EventFile[], moreInfo: EventInfo): NewEvent[] {
  const lists = new Map<string, EventFile[]>();
  for (const file of files) {
    const key = JSON.stringify([file.organizationId, file.customerId, file.requestId, file.uploadId]);
    lists.set(key, [...(lists.get(key) ?? []), file]);
  }
  return [...lists.values()].flatMap((list) =>
    list.slice(0, 1).map((file) => ({
      kind,
      organizationId: file.organizationId,
      customerId: file.customerId,
      objectId: list.map(({ _id }) => String(_id)),
      info: { ...moreInfo, ...upload(file) },
      // Uploads of one request may have different workflows.
      workflowId: list.every((other) => other.workflowId === file.workflowId) ? file.workflowId : null,
    })),
  );
}

/** Progress of a file's sparse vectors. Their success is reported by FILE_READY. */
type SparseVectorStatus = 'queued' | 'aborted' | 'failed';
const ofSparseVectors = (file: EventFile, status: SparseVectorStatus): NewEvent =>
  ofFile(file, 'SPARSE_VECTOR_QUEUE_STATUS', { sparse_vector_queue_status: status, request_id: file.requestId });
/** Returns the event only if the file's run announced its sparse vectors. */
const ofQueuedSparseVectors = (file: EventFile, status: SparseVectorStatus): NewEvent[] =>
  file.runId !== null && file.sparseQueuedBy === file.runId && wantsSparseVectors(file.options)
    ? [ofSparseVectors(file, status)]
    : [];

/** Events of file state changes. */
export const fileEvents = {
  created: (files: readonly EventFile[]): NewEvent[] => ofLists('FILES_CREATED', files, {}),
  syncing: (file: EventFile): NewEvent[] => [ofFile(file, 'FILE_SYNCING', { request_id: file.requestId })],
  /** @param file the record before the change */
  ready(file: EventFile): NewEvent[] {
    const info = { is_resync: flag(file.lastSync !== null), request_id: file.requestId };
    return [ofFile(file, 'FILE_READY', info), ...(isPage(file) ? [ofFile(file, 'WEBPAGE_READY', info)] : [])];
  },
  failed(file: EventFile, message: string | null): NewEvent[] {
    const info = { sync_error_message: message, request_id: file.requestId };
    const page = isPage(file) ? [ofFile(file, 'WEBPAGE_ERROR', info)] : [];
    return [...ofQueuedSparseVectors(file, 'failed'), ofFile(file, 'FILE_ERROR', info), ...page];
  },
  rateLimited: (file: EventFile, message: string): NewEvent[] => [
    ofFile(file, 'RATE_LIMIT_ERROR', { sync_error_message: message, request_id: file.requestId }),
  ],
  sparseQueued: (file: EventFile): NewEvent => ofSparseVectors(file, 'queued'),
  /** Returns the events for files that end unprocessed. */
  aborted: (files: readonly EventFile[], reason: string): NewEvent[] => [
    ...files.flatMap((file) => ofQueuedSparseVectors(file, 'aborted')),
    ...ofLists('FILES_SKIPPED', files, { reason }),
  ],
  skipped: (files: readonly EventFile[], reason: string): NewEvent[] => ofLists('FILES_SKIPPED', files, { reason }),
  /** Returns the events for files that a request does not change. */
  skippedOfRequest: (
    files: readonly EventFile[],
    reason: string,
    { requestId, workflowId }: { readonly requestId: string; readonly workflowId: string },
  ): NewEvent[] =>
    ofLists(
      'FILES_SKIPPED',
      files.map((file) => ({ ...file, requestId, workflowId, uploadId: null })),
      { reason },
    ),
  /** Returns the event for items that a request selected through their container and that do not become files. */
  notAccepted(
    items: readonly EventItem[],
    reason: string,
    { _id, organizationId, customerId }: Pick<EventFile, '_id' | 'organizationId' | 'customerId'>,
    request: Pick<EventFile, 'requestId' | 'uploadId' | 'workflowId'>,
  ): NewEvent {
    const info = { reason, data_source_id: String(_id), items, ...upload(request) };
    const { workflowId } = request;
    return { kind: 'FILES_SKIPPED', organizationId, customerId, objectId: [], info, workflowId };
  },
  /**
   * Returns the events for files whose vectors were moved, or whose storage settings changed.
   * @param requestId id of the run or request that caused it
   * @param workflowId null if a request caused it
   */
  stored(
    kind: 'MOVED_TO_COLD_STORAGE' | 'MOVED_TO_HOT_STORAGE' | 'EMBEDDING_STORAGE_MODIFIED',
    files: readonly EventFile[],
    requestId: string,
    workflowId: string | null = null,
  ): NewEvent[] {
    return ofLists(
      kind,
      files.map((file) => ({ ...file, requestId, workflowId, uploadId: null })),
      {},
    );
  },
  deleted: (file: EventFile): NewEvent[] => [ofFile(file, 'FILE_DELETED', { request_id: file.requestId })],
  /** @param parent a scrape whose pages are all found and queued. @param isScheduled whether it is a scheduled sync */
  discovered: (parent: EventFile, isScheduled: boolean): NewEvent[] => [
    ofFile(parent, 'WEBSCRAPE_URLS_READY', { request_id: parent.requestId }),
    ...(isScheduled ? [] : [uploadEvent('ALL_UPLOADED_FILES_QUEUED', parent)]),
  ],
};

/** Returns an event of a data source: its last action, or DATA_SOURCE_READY once its items are listed. */
export const dataSourceEvent = (
  kind: DataSourceAction | 'DATA_SOURCE_READY',
  { _id, organizationId, customerId }: Pick<EventFile, '_id' | 'organizationId' | 'customerId'>,
  workflowId: string | null = null,
): NewEvent => ({ kind, organizationId, customerId, objectId: String(_id), info: null, workflowId });

/** Returns an event for all files of one request. */
export function uploadEvent(
  kind: 'ALL_UPLOADED_FILES_QUEUED' | 'ALL_FILES_PROCESSED' | 'FILE_SYNC_LIMIT_REACHED',
  owner: Pick<EventFile, 'organizationId' | 'customerId' | 'requestId' | 'uploadId'> & {
    readonly workflowId?: string | null;
  },
): NewEvent {
  const { organizationId, customerId, requestId, workflowId = null } = owner;
  return { kind, organizationId, customerId, objectId: requestId, info: upload(owner), workflowId };
}

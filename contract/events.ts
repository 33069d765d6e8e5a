/** What webhooks and GET /events tell: the kinds of the public interface, what each is about, and its exact bytes. */
import { type IngestOptions, wantsSparseVectors } from './ingestOptions.js';
import { WEB_PAGE_SOURCE } from './scrapeSitemap.js';
import type { SourceType } from './sources.js';
import type { DataSourceAction } from './statuses.js';
import type { WorkflowLink } from './temporalLinks.js';

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

/** Every kind of event with the type of the object it is about. */
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

/** Something of a source that has no file. */
export interface EventItem {
  readonly external_id: string;
  readonly name: string;
}

/** What is told beside the object. Booleans and numbers are strings on the wire; null stays null. */
export type EventInfo = Readonly<Record<string, string | null | readonly EventItem[]>>;

/** Something that has happened, before it has its number. */
export interface NewEvent {
  readonly kind: EventKind;
  readonly organizationId: number;
  /** The end user it happened to, in the organization's own words; '' when it is about no user. */
  readonly customerId: string;
  /** Id or ids of the object, as text; null where the kind has none. */
  readonly objectId: string | readonly string[] | null;
  readonly info: EventInfo | null;
  /** The workflow that made it happen, or that the request which did began; null, or absent, where there is none. */
  readonly workflowId?: string | null;
}

/** An event as it is told. */
export interface ToldEvent extends Pick<NewEvent, 'kind' | 'customerId' | 'objectId' | 'info' | 'workflowId'> {
  readonly at: Date;
}

/** An event with its place in the feed of its organization: 1, 2, 3… in the order in which readers get to see them. */
export interface NumberedEvent extends ToldEvent {
  readonly position: number;
}

/** The same for every delivery of an event, so that receivers can drop what they have seen. */
export const eventId = (organizationId: number, position: number): string => `evt_${organizationId}_${position}`;

/** The objects an event is about: events that share one are told in order. A page is the same object as its file. */
export function objectsOf({ kind, objectId }: Pick<NewEvent, 'kind' | 'objectId'>): string[] {
  const type = EVENT_KINDS[kind];
  const ids = objectId === null ? [''] : typeof objectId === 'string' ? [objectId] : objectId;
  const name = type === 'FILE_LIST' || type === 'WEBPAGE' ? 'FILE' : type;
  return ids.map((id) => `${name}:${id}`);
}

const NOT_ASCII = /[^ -~]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** JSON as existing receivers know it: a blank after each comma and colon, everything past ASCII escaped. */
function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${spacedJson(name)}: ${spacedJson(member)}`);
    return `{${members.join(', ')}}`;
  }
  return JSON.stringify(value).replaceAll(NOT_ASCII, escaped);
}

const posixSeconds = (at: Date): string => String(Math.floor(at.getTime() / 1000));

/** What receivers of the hosted service know, as they know it. */
const known = ({ kind, customerId, objectId, info, at }: ToldEvent) => ({
  webhook_type: kind,
  obj: {
    object_type: EVENT_KINDS[kind],
    object_id: objectId,
    // Four letters, where there is nothing to tell: that is what receivers know.
    additional_information: info ?? 'null',
  },
  customer_id: customerId,
  timestamp: posixSeconds(at),
});

/** An event as our own operations answer it: what receivers know comes first. */
export const eventPayload = (event: ToldEvent, workflowLink: WorkflowLink) => ({
  ...known(event),
  ...workflowLink(event.workflowId),
});

/** The bytes of a delivery: one key, whose value is the inner document as text. Without a workflow, those of the hosted service. */
export function eventBody(event: ToldEvent, workflowLink: WorkflowLink): string {
  const payload = { ...known(event), ...(event.workflowId ? workflowLink(event.workflowId) : {}) };
  return spacedJson({ payload: spacedJson(payload) });
}

/** What events tell of a file. */
export interface EventFile {
  readonly _id: number;
  readonly organizationId: number;
  readonly customerId: string;
  readonly source: SourceType;
  readonly isContainer: boolean;
  readonly requestId: string | null;
  readonly uploadId: string | null;
  readonly lastSync: Date | null;
  /** The run that has told of sparse vectors to come. */
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

/** One event for all files of the same customer and request. */
function ofLists(kind: EventKind, files: readonly EventFile[], more: EventInfo): NewEvent[] {
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
      info: { ...more, ...upload(file) },
      // Uploads of one request have each a workflow of its own.
      workflowId: list.every((one) => one.workflowId === file.workflowId) ? file.workflowId : null,
    })),
  );
}

/** How the sparse vectors of a file fare. Once they are there, that is FILE_READY. */
type SparseVectorStatus = 'queued' | 'aborted' | 'failed';
const ofSparseVectors = (file: EventFile, status: SparseVectorStatus): NewEvent =>
  ofFile(file, 'SPARSE_VECTOR_QUEUE_STATUS', { sparse_vector_queue_status: status, request_id: file.requestId });
/** The same for one of whose sparse vectors its run has told that they are to come. */
const ofQueuedSparseVectors = (file: EventFile, status: SparseVectorStatus): NewEvent[] =>
  file.runId !== null && file.sparseQueuedBy === file.runId && wantsSparseVectors(file.options)
    ? [ofSparseVectors(file, status)]
    : [];

/** What a change of files is told as. */
export const fileEvents = {
  created: (files: readonly EventFile[]): NewEvent[] => ofLists('FILES_CREATED', files, {}),
  syncing: (file: EventFile): NewEvent[] => [ofFile(file, 'FILE_SYNCING', { request_id: file.requestId })],
  /** @param file as it was before */
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
  /** Files that end unprocessed. */
  aborted: (files: readonly EventFile[], reason: string): NewEvent[] => [
    ...files.flatMap((file) => ofQueuedSparseVectors(file, 'aborted')),
    ...ofLists('FILES_SKIPPED', files, { reason }),
  ],
  skipped: (files: readonly EventFile[], reason: string): NewEvent[] => ofLists('FILES_SKIPPED', files, { reason }),
  /** Files that a request asked for and that stay as they are. */
  leftOut: (
    files: readonly EventFile[],
    reason: string,
    { requestId, workflowId }: { readonly requestId: string; readonly workflowId: string },
  ): NewEvent[] =>
    ofLists(
      'FILES_SKIPPED',
      files.map((file) => ({ ...file, requestId, workflowId, uploadId: null })),
      { reason },
    ),
  /** Things of a source that a request selected with what they lie in, and that become no files. */
  notTaken(
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
   * Of files whose vectors were moved, or are to be treated otherwise. @param requestId of the run, or request, that did it
   * @param workflowId null where a request did it
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
  /** @param parent of a scrape whose addresses are all known and queued. @param isPass nobody asked for it, and it is no upload */
  discovered: (parent: EventFile, isPass: boolean): NewEvent[] => [
    ofFile(parent, 'WEBSCRAPE_URLS_READY', { request_id: parent.requestId }),
    ...(isPass ? [] : [uploadEvent('ALL_UPLOADED_FILES_QUEUED', parent)]),
  ],
};

/** What happened to a data source last is told under the name that its record has for it; that its items are listed, beside. */
export const dataSourceEvent = (
  kind: DataSourceAction | 'DATA_SOURCE_READY',
  { _id, organizationId, customerId }: Pick<EventFile, '_id' | 'organizationId' | 'customerId'>,
  workflowId: string | null = null,
): NewEvent => ({ kind, organizationId, customerId, objectId: String(_id), info: null, workflowId });

/** An event about all files of one request. */
export function uploadEvent(
  kind: 'ALL_UPLOADED_FILES_QUEUED' | 'ALL_FILES_PROCESSED' | 'FILE_SYNC_LIMIT_REACHED',
  owner: Pick<EventFile, 'organizationId' | 'customerId' | 'requestId' | 'uploadId'> & {
    readonly workflowId?: string | null;
  },
): NewEvent {
  const { organizationId, customerId, requestId, workflowId = null } = owner;
  return { kind, organizationId, customerId, objectId: requestId, info: upload(owner), workflowId };
}

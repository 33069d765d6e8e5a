import type { Connection, Model } from 'mongoose';

import type { FeedReading } from '../../contract/runs/feeds.js';
import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import type { ItemEnd } from '../../contract/runs/ledger.js';
import type { ContainerRunKind } from '../../contract/runs/runKinds.js';
import type { SourceType } from '../../contract/sources/sources.js';
import { type EmbeddingStorageStatus, FILE_SYNC_STATUSES } from '../../contract/files/statuses.js';
import type { Original } from './originals.js';
import {
  COLD_INDEXES,
  FILTER_INDEXES,
  IDENTITY_INDEX,
  OPERATOR_INDEXES,
  ORDER_INDEXES,
  RUN_INDEX,
  PARTIAL_INDEXES,
} from './fileIndexes.js';
import {
  byDefault,
  date,
  flag,
  json,
  list,
  nullable,
  number,
  objectId,
  oneOf,
  optional,
  orNull,
  type RecordOf,
  required,
  schemaOf,
  storedTag,
  text,
  textOf,
} from '../database/record.js';

export interface FileStatistics {
  fileFormat: string | null;
  fileSize: number | null;
  numCharacters: number | null;
  numTokens: number | null;
  numEmbeddings: number | null;
  mimeType: string | null;
}

const SYNCED_CONTENT = {
  /** The generation that readers see; 0 before the first sync. */
  generation: byDefault(number, 0),
  numChunks: byDefault(number, 0),
  statistics: nullable(json<FileStatistics>()),
  /** The vector space of the chunks; null without vectors. */
  vectorSpace: nullable(text),
  dimensions: nullable(number),
  /** Whether the content as received, and its parsed text, are stored. */
  hasContent: byDefault(flag, false),
  hasText: byDefault(flag, false),
  rawHash: nullable(text),
  /** ETag of the fetched content. */
  etag: nullable(text),
  lastModified: nullable(text),
  /**
   * For a file of a connected account: the version of its content according to the listing. Null, or absent in older
   * records: unknown.
   */
  version: optional(orNull(text)),
  /** Hash of everything that affects the result, except the content: options, model, version of the pipeline. */
  processedAs: nullable(text),
};

/** Fields that a finished sync sets, in the one update that publishes the generation. */
export interface SyncedContent extends RecordOf<typeof SYNCED_CONTENT> {}

/** The run and latest attempt that move a file's vectors. Earlier attempts cannot change anything. */
export interface VectorMove {
  readonly runId: number;
  readonly token: string | null;
}

/** The vectors of a file in file storage. */
export interface ColdCopy {
  readonly key: string;
  /** Generation of the content to which the vectors belong. */
  readonly generation: number;
  readonly points: number;
  readonly bytes: number;
}

const FILE = {
  ...SYNCED_CONTENT,
  _id: number,
  organizationId: required(number),
  userId: required(number),
  customerId: required(text),
  dataSourceId: nullable(number),
  /**
   * Id of the data source within which the external id is unique: that of the file or of its parent. Null without an
   * account: then the external id is unique among the user's files.
   */
  accountId: nullable(number),
  source: required(textOf<SourceType>()),
  /** Type of a helpdesk item (TICKET, ARTICLE…); null for other sources. */
  fileTypeAtSource: nullable(text),
  externalFileId: required(text),
  externalUrl: nullable(text),
  name: nullable(text),
  parentId: nullable(number),
  /** A sitemap, folder or feed: has children, never chunks. */
  isContainer: byDefault(flag, false),
  /** For a container: the kind of run that updates it. Null in older records, which means scrapeSitemap. */
  runKind: nullable(textOf<ContainerRunKind>()),
  /**
   * For a feed: identifies the version of the feed whose entries are stored, so that an unchanged feed is not read
   * again.
   */
  feedReading: optional(orNull(json<FeedReading>())),
  syncStatus: required(oneOf(FILE_SYNC_STATUSES)),
  syncErrorMessage: nullable(text),
  lastSync: nullable(date),
  sourceCreatedAt: nullable(date),
  /** For a file of a connected account: version of the content when the file was queued. Null: unknown. */
  listedVersion: optional(orNull(text)),
  /** The file's own tags, set by its request or by a later call. */
  tags: list(storedTag),
  /**
   * Tags of its data source, as the last tag workflow copied them. The file's own tags take precedence. Absent in older
   * records.
   */
  sourceTags: optional(byDefault(list(storedTag), undefined)),
  /** Version of the data source's tags that the file and its points have. */
  sourceTagsVersion: optional(number),
  /** Increases with every change of tagPairs. A sync publishes its points only if the number has not changed since. */
  tagsRevision: optional(number),
  /** `key=value` of every tag, the file's own and those of its source, for indexed equality. */
  tagPairs: list(text),
  options: json<IngestOptions>(),
  /**
   * Options that the source needs to fetch the file again, in the source's own format: PageOptions of a page,
   * ScrapeOptions of a sitemap…
   */
  sourceOptions: nullable(json<unknown>()),
  enableAutoSync: nullable(flag),
  fileMetadata: byDefault(json<Record<string, unknown>>(), () => ({})),
  ocrProperties: byDefault(json<Record<string, unknown>>(), () => ({})),
  /** When the file last entered OCR; null if it never did. */
  ocrJobStartedAt: optional(nullable(date)),
  /** Pages that OCR reads, while the file is QUEUED_FOR_OCR. */
  ocrPages: optional(nullable(list(number))),
  syncProperties: byDefault(json<Record<string, unknown>>(), () => ({})),
  messagesMetadata: byDefault(json<Record<string, unknown>>(), () => ({})),
  requestId: nullable(text),
  /** Value of requestId before a scheduled sync; it is restored if the sync finds the file unchanged. */
  keptRequestId: optional(orNull(text)),
  uploadId: nullable(text),
  supportsColdStorage: byDefault(flag, false),
  hotStorageTimeToLive: nullable(number),
  embeddingStorageStatus: byDefault(textOf<EmbeddingStorageStatus>(), 'HOT_STORAGE'),
  /** Time when a search last returned a chunk of the file, precise to an hour; null or absent: no recorded use. */
  lastUsedAt: optional(orNull(date)),
  /** Time from which the vectors may move to file storage; each use of the file postpones it. Null or absent: never. */
  coolsAt: optional(orNull(date)),
  /** The move of the vectors that is in progress, or whose clean-up is not finished. */
  move: optional(orNull(json<VectorMove>())),
  /** Location of the vectors while they are not in Qdrant. */
  coldCopy: optional(orNull(json<ColdCopy>())),
  fileContentsDeleted: byDefault(flag, false),
  /** The uploaded content; null for a file that is fetched from its source. */
  original: optional(nullable(json<Original>())),
  /** The original that contains chunks made by the caller. The service then does not parse and split the content. */
  callerChunks: optional(nullable(json<Original>())),
  /** Hash of the content that crashed its reader, and the number of crashes. */
  crashes: optional(nullable(json<{ hash: string; count: number }>())),
  /** The run that owns the file. It guards the file's writes: a run that no longer owns the file changes nothing. */
  runId: nullable(number),
  workflowId: nullable(text),
  /** Outcome of the file in its run, for the ledger; null while unfinished, absent in older records. */
  ended: optional(nullable(json<ItemEnd>())),
  /** Last generation that was reserved. If it is greater than `generation`, a sync is in progress or left rows. */
  lastGeneration: byDefault(number, 0),
  /** Whether earlier generations still have rows or points to delete. */
  cleanupPending: byDefault(flag, false),
  /**
   * The last run that wrote the event SPARSE_VECTOR_QUEUE_STATUS with `queued` for the file. Without meaning for files
   * without sparse vectors: they are updated with their batch. Absent: no run has written the event.
   */
  sparseQueuedBy: optional(orNull(number)),
  /** Failed attempts in this run. */
  attempts: byDefault(number, 0),
  /** Starts without an outcome: the one in progress, and earlier ones whose worker crashed. */
  unfinishedStarts: byDefault(number, 0),
  /** Characters reserved for a text that is being stored. */
  reservedCharacters: optional(nullable(number)),
  /** Characters of the text of a file that did not fit into `max_characters`; null: the text is not counted yet. */
  delayedCharacters: optional(nullable(number)),
  /** Time before which no attempt starts. */
  notBefore: nullable(date),
  /** Time of its restore from quarantine. The file is missing at its source, but is not deleted again for that. */
  restoredAt: optional(orNull(date)),
  /** The run to which the source reported that the file is gone. */
  goneBy: optional(orNull(number)),
  /** For a container: whether its next scheduled sync may delete any number of missing pages. */
  deletionsApproved: optional(flag),
  /**
   * Marks of the latest changes with events. After a crash between a change and its event, they show whether the change
   * happened.
   */
  marks: list(objectId),
  createdAt: required(date),
  updatedAt: required(date),
  schemaVersion: byDefault(number, 1),
};

export interface FileDoc extends RecordOf<typeof FILE> {}

const file = schemaOf<FileDoc>(FILE, { keepEmpty: true });

file.index(IDENTITY_INDEX, { unique: true });
for (const keys of [...Object.values(ORDER_INDEXES), ...Object.values(FILTER_INDEXES), RUN_INDEX]) file.index(keys);
for (const { keys, only } of [PARTIAL_INDEXES, COLD_INDEXES, OPERATOR_INDEXES].flatMap((rows) => Object.values(rows)))
  file.index(keys, { partialFilterExpression: only });

export function fileModel(connection: Connection): Model<FileDoc> {
  return connection.model<FileDoc>('files', file, 'files');
}

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
  SPARSE_INDEXES,
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
  /** By what the source recognises this copy. */
  etag: nullable(text),
  lastModified: nullable(text),
  /** For a file of a connected account: the version of its content according to the listing. Null, or absent in older records: unknown. */
  version: optional(orNull(text)),
  /** Hash of everything but the content that the outcome depends on: options, model, version of the pipeline. */
  processedAs: nullable(text),
};

/** What a finished sync leaves on the file, all set in the one update that flips the generation. */
export interface SyncedContent extends RecordOf<typeof SYNCED_CONTENT> {}

/** The run and latest attempt that move a file's vectors. Earlier attempts can't change anything. */
export interface VectorMove {
  readonly runId: number;
  readonly token: string | null;
}

/** The vectors of a file in file storage. */
export interface ColdCopy {
  readonly key: string;
  /** Of the content that they belong to. */
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
   * The data source within which its external id is unique: its own, or that of its parent. Null, without an
   * account: all of the user's files.
   */
  accountId: nullable(number),
  source: required(textOf<SourceType>()),
  /** What it is at a helpdesk: TICKET, ARTICLE…; null elsewhere. */
  fileTypeAtSource: nullable(text),
  externalFileId: required(text),
  externalUrl: nullable(text),
  name: nullable(text),
  parentId: nullable(number),
  /** A sitemap, folder or feed: has children, never chunks. */
  isContainer: byDefault(flag, false),
  /** Of a container: the kind of run that brings it up to date; null where none was kept: scrapeSitemap. */
  runKind: nullable(textOf<ContainerRunKind>()),
  /** Of a feed: the reading that its entries are as of, where a later one may be spared. */
  feedReading: optional(orNull(json<FeedReading>())),
  syncStatus: required(oneOf(FILE_SYNC_STATUSES)),
  syncErrorMessage: nullable(text),
  lastSync: nullable(date),
  sourceCreatedAt: nullable(date),
  /** For a file of a connected account: its version when it was queued. Null: unknown. */
  listedVersion: optional(orNull(text)),
  /** The file's own tags: of its request, or given to the file itself. */
  tags: list(storedTag),
  /** Those of its data source, as a tag workflow left them. Own tags win over them. Absent in older records. */
  sourceTags: optional(byDefault(list(storedTag), undefined)),
  /** The version of the data source's tags that file and points have. */
  sourceTagsVersion: optional(number),
  /** Raised with every change of tagPairs, so that points are not shown with other tags. */
  tagsRevision: optional(number),
  /** `key=value` of every tag, own and of the source, for indexed equality. */
  tagPairs: list(text),
  options: json<IngestOptions>(),
  /** What the source needs to fetch it again, in the source's own shape: PageOptions of a page, ScrapeOptions of a sitemap… */
  sourceOptions: nullable(json<unknown>()),
  enableAutoSync: nullable(flag),
  fileMetadata: byDefault(json<Record<string, unknown>>(), () => ({})),
  ocrProperties: byDefault(json<Record<string, unknown>>(), () => ({})),
  /** When the file last came to OCR; null where it never did. */
  ocrJobStartedAt: optional(nullable(date)),
  /** The pages that OCR is to read, while the file is QUEUED_FOR_OCR. */
  ocrPages: optional(nullable(list(number))),
  syncProperties: byDefault(json<Record<string, unknown>>(), () => ({})),
  messagesMetadata: byDefault(json<Record<string, unknown>>(), () => ({})),
  requestId: nullable(text),
  /** While a pass of auto-sync looks at it: the request that it is of again if nothing has changed. */
  keptRequestId: optional(orNull(text)),
  uploadId: nullable(text),
  supportsColdStorage: byDefault(flag, false),
  hotStorageTimeToLive: nullable(number),
  embeddingStorageStatus: byDefault(textOf<EmbeddingStorageStatus>(), 'HOT_STORAGE'),
  /** When a search last answered something of it, to the hour; null or absent: not that we know. */
  lastUsedAt: optional(orNull(date)),
  /** When its vectors may go into file storage, unless they are used before; null or absent: never. */
  coolsAt: optional(orNull(date)),
  /** The move of its vectors that is under way, or that has not tidied up yet. */
  move: optional(orNull(json<VectorMove>())),
  /** Where its vectors lie while they are not at hand. */
  coldCopy: optional(orNull(json<ColdCopy>())),
  fileContentsDeleted: byDefault(flag, false),
  /** The uploaded content; null for a file that is fetched from its source. */
  original: optional(nullable(json<Original>())),
  /** The original that holds chunks a caller made, in place of what a reader would make. */
  callerChunks: optional(nullable(json<Original>())),
  /** How often which content has brought its reader down. */
  crashes: optional(nullable(json<{ hash: string; count: number }>())),
  /** The run that owns the file; its writes are guarded by it, so that a run that was overtaken changes nothing. */
  runId: nullable(number),
  workflowId: nullable(text),
  /** Its outcome in its run, for the ledger; null while unfinished, absent in older records. */
  ended: optional(nullable(json<ItemEnd>())),
  /** The last generation number given out. Above `generation`: a sync is under way, or left its rows behind. */
  lastGeneration: byDefault(number, 0),
  /** The generation before this one still has rows or points to delete. */
  cleanupPending: byDefault(flag, false),
  /** The run that announced sparse vectors; absent if none did. */
  sparseQueuedBy: optional(orNull(number)),
  /** Failed tries in this run. */
  attempts: byDefault(number, 0),
  /** Starts that reached no outcome: the worker died each time. */
  unfinishedStarts: byDefault(number, 0),
  /** Characters of a text that is just being kept, counted in before it is. */
  reservedCharacters: optional(nullable(number)),
  /** How many characters a held-back file needs; null: not known yet. */
  delayedCharacters: optional(nullable(number)),
  /** Not to be tried before this time. */
  notBefore: nullable(date),
  /** When it was restored from quarantine: it is missing at its source, and is not deleted again for that. */
  restoredAt: optional(orNull(date)),
  /** The run to which the source reported that the file is gone. */
  goneBy: optional(orNull(number)),
  /** Of a container: however much its next pass misses is deleted. */
  deletionsApproved: optional(flag),
  /** Marks of the last changes with events: they settle a crash between a change and its event. */
  marks: list(objectId),
  createdAt: required(date),
  updatedAt: required(date),
  schemaVersion: byDefault(number, 1),
};

export interface FileDoc extends RecordOf<typeof FILE> {}

const file = schemaOf<FileDoc>(FILE, { keepEmpty: true });

file.index(IDENTITY_INDEX, { unique: true });
for (const keys of [...Object.values(ORDER_INDEXES), ...Object.values(FILTER_INDEXES), RUN_INDEX]) file.index(keys);
for (const { keys, only } of [SPARSE_INDEXES, COLD_INDEXES, OPERATOR_INDEXES].flatMap((rows) => Object.values(rows)))
  file.index(keys, { partialFilterExpression: only });

export function fileModel(connection: Connection): Model<FileDoc> {
  return connection.model<FileDoc>('files', file, 'files');
}

import { type Connection, type Model, type mongo, Schema } from 'mongoose';

import type { FeedReading } from '../../contract/feeds.js';
import type { IngestOptions } from '../../contract/ingestOptions.js';
import type { ItemEnd } from '../../contract/ledger.js';
import type { ContainerRunKind } from '../../contract/orchestration.js';
import type { SourceType } from '../../contract/sources.js';
import { FILE_SYNC_STATUSES, type EmbeddingStorageStatus, type FileSyncStatus } from '../../contract/statuses.js';
import type { StoredTag } from '../../contract/tags.js';
import type { Original } from '../originals/model.js';
import {
  COLD_INDEXES,
  FILTER_INDEXES,
  IDENTITY_INDEX,
  OPERATOR_INDEXES,
  ORDER_INDEXES,
  RUN_INDEX,
  SPARSE_INDEXES,
} from './indexes.js';

export interface FileStatistics {
  fileFormat: string | null;
  fileSize: number | null;
  numCharacters: number | null;
  numTokens: number | null;
  numEmbeddings: number | null;
  mimeType: string | null;
}

/** What a finished sync leaves on the file, all set in the one update that flips the generation. */
export interface SyncedContent {
  /** The generation that readers see; 0 before the first sync. */
  generation: number;
  numChunks: number;
  statistics: FileStatistics | null;
  /** The vector space the chunks lie in; null when they have no vectors. */
  vectorSpace: string | null;
  dimensions: number | null;
  /** Whether the content as it came, and its parsed text, are kept. */
  hasContent: boolean;
  hasText: boolean;
  rawHash: string | null;
  /** By what the source recognises this copy. */
  etag: string | null;
  lastModified: string | null;
  /** Of what lies in a connected account: what its listing called this version of the content. Null, or absent in older records: it did not tell. */
  version?: string | null;
  /** Hash of everything but the content that the outcome depends on: options, model, version of the pipeline. */
  processedAs: string | null;
}

/** Whose move a file is in: a run's, and of its tries the latest. What an earlier try still does changes nothing any more. */
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

export interface FileDoc extends SyncedContent {
  _id: number;
  organizationId: number;
  userId: number;
  customerId: string;
  dataSourceId: number | null;
  /**
   * The data source within which its external id is one: its own, or that of what it came out of. Null, of what lies in
   * no account: all of the user's files.
   */
  accountId: number | null;
  source: SourceType;
  /** What it is at a helpdesk: TICKET, ARTICLE…; null elsewhere. */
  fileTypeAtSource: string | null;
  externalFileId: string;
  externalUrl: string | null;
  name: string | null;
  parentId: number | null;
  /** A sitemap, folder or feed: has children, never chunks. */
  isContainer: boolean;
  /** Of a container: the kind of run that brings it up to date; null where none was kept: scrapeSitemap. */
  runKind: ContainerRunKind | null;
  /** Of a feed: the reading that its entries are as of, where a later one may be spared. */
  feedReading?: FeedReading | null;
  syncStatus: FileSyncStatus;
  syncErrorMessage: string | null;
  lastSync: Date | null;
  sourceCreatedAt: Date | null;
  /** Of what lies in a connected account: its version as of the listing that queued it. Null: nobody looked. */
  listedVersion?: string | null;
  /** The file's own tags: of its request, or given to the file itself. */
  tags: StoredTag[];
  /** Those of its data source, as a tag workflow left them. Own tags win over them. Absent in older records. */
  sourceTags?: StoredTag[];
  /** The version of the data source's tags that file and points have. */
  sourceTagsVersion?: number;
  /** Raised with every change of tagPairs, so that points are not shown with other tags. */
  tagsRevision?: number;
  /** `key=value` of every tag, own and of the source, for indexed equality. */
  tagPairs: string[];
  options: IngestOptions;
  /** What the source needs to fetch it again, in the source's own shape: PageOptions of a page, ScrapeOptions of a sitemap… */
  sourceOptions: unknown;
  enableAutoSync: boolean | null;
  fileMetadata: Record<string, unknown>;
  ocrProperties: Record<string, unknown>;
  /** When the file last came to OCR; null where it never did. */
  ocrJobStartedAt?: Date | null;
  /** The pages that OCR is to read, while the file is QUEUED_FOR_OCR. */
  ocrPages?: number[] | null;
  syncProperties: Record<string, unknown>;
  messagesMetadata: Record<string, unknown>;
  requestId: string | null;
  /** While a pass of auto-sync looks at it: the request that it is of again if nothing has changed. */
  keptRequestId?: string | null;
  uploadId: string | null;
  supportsColdStorage: boolean;
  hotStorageTimeToLive: number | null;
  embeddingStorageStatus: EmbeddingStorageStatus;
  /** When a search last answered something of it, to the hour; null or absent: not that we know. */
  lastUsedAt?: Date | null;
  /** When its vectors may go into file storage, unless they are used before; null or absent: never. */
  coolsAt?: Date | null;
  /** The move of its vectors that is under way, or that has not tidied up yet. */
  move?: VectorMove | null;
  /** Where its vectors lie while they are not at hand. */
  coldCopy?: ColdCopy | null;
  fileContentsDeleted: boolean;
  /** The content that was sent for it, whatever was made of that since; null for what is fetched from its source. */
  original?: Original | null;
  /** The original that holds chunks a caller made, in place of what a reader would make. */
  givenChunks?: Original | null;
  /** How often which content has brought its reader down. */
  crashes?: { hash: string; count: number } | null;
  /** The run that owns the file; its writes are guarded by it, so that a run that was overtaken changes nothing. */
  runId: number | null;
  workflowId: string | null;
  /** How its run ended with it, for the ledger; null while it is in motion, absent in older records. */
  ended?: ItemEnd | null;
  /** The last generation number given out. Above `generation`: a sync is under way, or left its rows behind. */
  lastGeneration: number;
  /** The generation before this one still has rows or points to delete. */
  cleanupPending: boolean;
  /** The run that has told of its sparse vectors to come; absent where none did. */
  sparseQueuedBy?: number | null;
  /** Failed tries in this run. */
  attempts: number;
  /** Starts that reached no outcome: the worker died each time. */
  unfinishedStarts: number;
  /** Characters of a text that is just being kept, counted in before it is. */
  reservedCharacters?: number | null;
  /** How many characters a held-back file needs; null: not known yet. */
  delayedCharacters?: number | null;
  /** Not to be tried before this time. */
  notBefore: Date | null;
  /** When it was had back from quarantine: it is not at its source, and is not missed there. */
  restoredAt?: Date | null;
  /** The run to which its source said that it is gone. */
  goneBy?: number | null;
  /** Of a container: however much its next pass misses is deleted. */
  deletionsApproved?: boolean;
  /** Of the last changes that were told of: by them a death between a change and its event is settled. */
  marks: mongo.ObjectId[];
  createdAt: Date;
  updatedAt: Date;
  schemaVersion: number;
}

const nullable = <T>(type: T) => ({ type, default: null });
const object = { type: Schema.Types.Mixed, default: () => ({}) };

const file: Schema<FileDoc> = new Schema<FileDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    customerId: { type: String, required: true },
    dataSourceId: nullable(Number),
    accountId: nullable(Number),
    source: { type: String, required: true },
    fileTypeAtSource: nullable(String),
    externalFileId: { type: String, required: true },
    externalUrl: nullable(String),
    name: nullable(String),
    parentId: nullable(Number),
    isContainer: { type: Boolean, default: false },
    runKind: nullable(String),
    feedReading: Schema.Types.Mixed,
    syncStatus: { type: String, enum: FILE_SYNC_STATUSES, required: true },
    syncErrorMessage: nullable(String),
    lastSync: nullable(Date),
    sourceCreatedAt: nullable(Date),
    listedVersion: String,
    tags: [{ _id: false, key: String, value: Schema.Types.Mixed }],
    sourceTags: { type: [{ _id: false, key: String, value: Schema.Types.Mixed }], default: undefined },
    sourceTagsVersion: Number,
    tagsRevision: Number,
    tagPairs: [String],
    options: Schema.Types.Mixed,
    sourceOptions: nullable(Schema.Types.Mixed),
    enableAutoSync: nullable(Boolean),
    fileMetadata: object,
    ocrProperties: object,
    ocrJobStartedAt: nullable(Date),
    ocrPages: { type: [Number], default: null },
    syncProperties: object,
    messagesMetadata: object,
    requestId: nullable(String),
    keptRequestId: String,
    uploadId: nullable(String),
    supportsColdStorage: { type: Boolean, default: false },
    hotStorageTimeToLive: nullable(Number),
    embeddingStorageStatus: { type: String, default: 'HOT_STORAGE' },
    lastUsedAt: Date,
    coolsAt: Date,
    move: Schema.Types.Mixed,
    coldCopy: Schema.Types.Mixed,
    fileContentsDeleted: { type: Boolean, default: false },
    original: nullable(Schema.Types.Mixed),
    givenChunks: nullable(Schema.Types.Mixed),
    crashes: nullable(Schema.Types.Mixed),
    runId: nullable(Number),
    workflowId: nullable(String),
    ended: nullable(Schema.Types.Mixed),
    generation: { type: Number, default: 0 },
    lastGeneration: { type: Number, default: 0 },
    cleanupPending: { type: Boolean, default: false },
    numChunks: { type: Number, default: 0 },
    statistics: nullable(Schema.Types.Mixed),
    vectorSpace: nullable(String),
    dimensions: nullable(Number),
    hasContent: { type: Boolean, default: false },
    hasText: { type: Boolean, default: false },
    rawHash: nullable(String),
    etag: nullable(String),
    lastModified: nullable(String),
    version: String,
    processedAs: nullable(String),
    sparseQueuedBy: Number,
    attempts: { type: Number, default: 0 },
    unfinishedStarts: { type: Number, default: 0 },
    reservedCharacters: nullable(Number),
    delayedCharacters: nullable(Number),
    notBefore: nullable(Date),
    restoredAt: Date,
    goneBy: Number,
    deletionsApproved: Boolean,
    marks: [Schema.Types.ObjectId],
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
    schemaVersion: { type: Number, default: 1 },
  },
  { versionKey: false, minimize: false },
);

file.index(IDENTITY_INDEX, { unique: true });
for (const keys of [...Object.values(ORDER_INDEXES), ...Object.values(FILTER_INDEXES), RUN_INDEX]) file.index(keys);
for (const { keys, only } of [SPARSE_INDEXES, COLD_INDEXES, OPERATOR_INDEXES].flatMap((rows) => Object.values(rows)))
  file.index(keys, { partialFilterExpression: only });

export function fileModel(connection: Connection): Model<FileDoc> {
  return connection.model<FileDoc>('files', file, 'files');
}

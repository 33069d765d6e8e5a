import type { MediaType } from './mediaTypes.js';
import type { TranscriptionService } from './uploads.js';
import { DEFAULT_EMBEDDING_MODEL, type EmbeddingModelId } from './embeddingModels.js';

export const PARSED_TEXT_FORMATS = ['PLAIN_TEXT', 'MARKDOWN'] as const;
export type ParsedTextFormat = (typeof PARSED_TEXT_FORMATS)[number];

/** How one file is to be turned into text, chunks and vectors. Stored on the file, so that a re-sync repeats it. */
export interface IngestOptions {
  /** Tokens (cl100k) a chunk has at most. */
  readonly chunkSize: number;
  /** Tokens that neighbouring chunks share at most. */
  readonly chunkOverlap: number;
  readonly embeddingModel: EmbeddingModelId;
  readonly skipEmbeddingGeneration: boolean;
  /** Chunks and no vectors, whatever skipEmbeddingGeneration says. */
  readonly generateChunksOnly: boolean;
  /** The file is stored; neither text nor chunks are made. */
  readonly storeFileOnly: boolean;
  /** Terms with their weights, for searching by words, beside the vectors of the model. */
  readonly generateSparseVectors: boolean;
  readonly prependFilenameToChunks: boolean;
  readonly setPageAsBoundary: boolean;
  /** Rows of a table, or objects of a JSON file, a chunk has at most; other formats take no notice. */
  readonly maxItemsPerChunk: number | null;
  /** Whether a long row of a table may be cut. Absent, like the options below: no. */
  readonly splitRows?: boolean;
  /** OCR for PDF, PNG and JPG. */
  readonly useOcr?: boolean;
  readonly parsePdfTablesWithOcr?: boolean;
  readonly detectAudioLanguage?: boolean;
  /** Null: the one that is configured. */
  readonly transcriptionService?: TranscriptionService | null;
  readonly includeSpeakerLabels?: boolean;
  /** Of messages at sources that ask for this wish: whether what is attached becomes files as well. */
  readonly syncAttachments?: boolean;
  /** Of sources that know their texts with markup and without: which is wanted. Absent: without. */
  readonly parsedTextFormat?: ParsedTextFormat;
  /** What the sender says the file is; null: what it is found to be. */
  readonly mediaType?: MediaType | null;
  /** Of a connected source with several kinds of things: those that are synced by themselves. Absent: all. */
  readonly autoSyncedSourceTypes?: readonly string[];
  /** A record only: nothing is fetched, and the file ends READY_TO_SYNC. */
  readonly skipFileProcessing: boolean;
}

/** Whether the chunks of a file are to have vectors. */
export const wantsVectors = (options: IngestOptions): boolean =>
  !options.skipEmbeddingGeneration && !options.generateChunksOnly && !options.storeFileOnly;

/** Whether they are to have sparse ones as well: these go with dense ones, never alone. */
export const wantsSparseVectors = (options: IngestOptions): boolean =>
  options.generateSparseVectors && wantsVectors(options) && !options.skipFileProcessing;

export const DEFAULT_INGEST_OPTIONS: IngestOptions = {
  chunkSize: 1500,
  chunkOverlap: 20,
  embeddingModel: DEFAULT_EMBEDDING_MODEL,
  skipEmbeddingGeneration: false,
  generateChunksOnly: false,
  storeFileOnly: false,
  generateSparseVectors: false,
  prependFilenameToChunks: false,
  setPageAsBoundary: false,
  maxItemsPerChunk: null,
  skipFileProcessing: false,
};

/** How a web page is to be fetched and read. Kept on each page's record, so that a re-sync repeats it. */
export interface PageOptions {
  readonly htmlTagsToSkip: readonly string[];
  readonly cssClassesToSkip: readonly string[];
  readonly cssSelectorsToSkip: readonly string[];
  readonly downloadCssAndMedia: boolean;
  readonly usePremiumProxies: boolean;
}

/** What a web scrape was asked for beyond IngestOptions. Lists are empty where the request gave none. Kept on the parent. */
export interface ScrapeOptions extends PageOptions {
  readonly maxPagesToScrape: number | null;
  readonly urlPathsToInclude: readonly string[];
  readonly urlPathsToExclude: readonly string[];
  readonly urlsToScrape: readonly string[];
  readonly enableAutoSync: boolean;
}

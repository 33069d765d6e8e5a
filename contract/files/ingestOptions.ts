import type { MediaType } from './mediaTypes.js';
import type { OcrLanguage } from './ocrLanguages.js';
import type { TranscriptionService } from './uploads.js';
import { DEFAULT_EMBEDDING_MODEL, type EmbeddingModelId } from '../vectors/embeddingModels.js';

export const PARSED_TEXT_FORMATS = ['PLAIN_TEXT', 'MARKDOWN'] as const;
export type ParsedTextFormat = (typeof PARSED_TEXT_FORMATS)[number];

/** How a file is converted to text, chunks and vectors. Stored on the file, so that a resync repeats it. */
export interface IngestOptions {
  /** Maximum number of tokens (cl100k) per chunk. */
  readonly chunkSize: number;
  /** Maximum number of tokens that neighbouring chunks share. */
  readonly chunkOverlap: number;
  readonly embeddingModel: EmbeddingModelId;
  readonly skipEmbeddingGeneration: boolean;
  /** Creates chunks without vectors, regardless of skipEmbeddingGeneration. */
  readonly generateChunksOnly: boolean;
  /** Stores the file without extracting text or chunks. */
  readonly storeFileOnly: boolean;
  /** Weighted terms for keyword search, in addition to the model's vectors. */
  readonly generateSparseVectors: boolean;
  readonly prependFilenameToChunks: boolean;
  readonly setPageAsBoundary: boolean;
  /** Maximum number of table rows, or of objects of a JSON file, per chunk. Other formats ignore it. */
  readonly maxItemsPerChunk: number | null;
  /** Whether a long table row may be split. Absent means false, as for the other booleans below. */
  readonly splitRows?: boolean;
  /** OCR for PDF, PNG and JPG. */
  readonly useOcr?: boolean;
  readonly parsePdfTablesWithOcr?: boolean;
  /** Languages that OCR chooses from, the most likely first. Absent: those of OCR_LANGUAGES. */
  readonly ocrLanguages?: readonly OcrLanguage[];
  readonly detectAudioLanguage?: boolean;
  /** Null: the configured service. */
  readonly transcriptionService?: TranscriptionService | null;
  readonly includeSpeakerLabels?: boolean;
  /** Whether attachments of messages become files, for sources that support the option. */
  readonly syncAttachments?: boolean;
  /** Text with or without markup, for sources that offer both. Absent: without. */
  readonly parsedTextFormat?: ParsedTextFormat;
  /** Media type declared by the sender; null: detected. */
  readonly mediaType?: MediaType | null;
  /** For sources with several types of items: the types that are synced automatically. Absent: all. */
  readonly autoSyncedSourceTypes?: readonly string[];
  /** Creates only a record: nothing is fetched, and the file ends as READY_TO_SYNC. */
  readonly skipFileProcessing: boolean;
}

/** Returns whether the chunks of a file get vectors. */
export const wantsVectors = (options: IngestOptions): boolean =>
  !options.skipEmbeddingGeneration && !options.generateChunksOnly && !options.storeFileOnly;

/** Returns whether the chunks get sparse vectors too. Sparse vectors are created only together with dense ones. */
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

/** How a web page is fetched and read. Stored on each page's record, so that a resync repeats it. */
export interface PageOptions {
  readonly htmlTagsToSkip: readonly string[];
  readonly cssClassesToSkip: readonly string[];
  readonly cssSelectorsToSkip: readonly string[];
  readonly downloadCssAndMedia: boolean;
  readonly usePremiumProxies: boolean;
  /** False: blocks that the site repeats stay in the text. Absent otherwise, so that older records compare as equal. */
  readonly removeRepeatedBlocks?: false;
}

/**
 * Options of a sitemap scrape beyond IngestOptions, stored on the parent. Lists are empty if the request contained
 * none.
 */
export interface ScrapeOptions extends PageOptions {
  readonly maxPagesToScrape: number | null;
  readonly urlPathsToInclude: readonly string[];
  readonly urlPathsToExclude: readonly string[];
  readonly urlsToScrape: readonly string[];
  readonly enableAutoSync: boolean;
}

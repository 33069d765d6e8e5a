import type { DocumentPool, HtmlSkips, Identified, ParseInput } from '../documents/types.js';
import type { Embeddings } from '../providers/embeddings/types.js';
import type { Connectors } from '../connectors/registry.js';
import type { Download, FeedSource, SitemapEntry, SitemapProblem, Validators } from '../connectors/types.js';
import type { OcrEngineName } from '../contract/files/ocrLanguages.js';
import type { DocumentFormat } from '../contract/files/fileFormats.js';
import type { WorkflowLink } from '../contract/runs/temporalLinks.js';
import type { TemporalNames } from '../contract/runs/temporalNames.js';
import type { SourceType } from '../contract/sources/sources.js';
import type { SparseVector } from '../contract/vectors/sparseVectors.js';
import type { Transcript } from '../contract/files/transcripts.js';
import type { Egress } from '../egress/types.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics.js';
import type { Store } from '../store/connect.js';
import type { Transcriptions } from '../providers/transcription/types.js';

/** Location of a file's content at its source. */
export interface ContentRef {
  readonly source: SourceType;
  readonly externalFileId: string;
  readonly externalUrl: string | null;
  /** The options as stored in the file's record. */
  readonly sourceOptions: unknown;
  /** Validators of the stored copy, for a conditional request; null: fetch unconditionally. */
  readonly known: Validators | null;
  /** Returns the credentials of the file's data source; null if there is none. @throws Fault if access was revoked */
  credentials(): Promise<string | null>;
}

export interface OpenedContent {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  /** Format of the content as received: a value of `file_format` in the API. */
  readonly format: string;
  readonly mimeType: string;
  /** URL of the content. The parser receives it as the document's name and, for fetched content, as base of links. */
  readonly url: string;
  readonly html: HtmlSkips;
  /** ETag and Last-Modified of the content, for a later conditional request. */
  readonly validators: Validators;
  /** Fields for file_metadata. */
  readonly fileMetadata: Readonly<Record<string, unknown>>;
  /** Current name at the source; absent: the name in the record. */
  readonly name?: string;
  /** Format for the file's record, if it differs from the one that the parser detects. */
  readonly recordedFormat?: string;
  /** Whether attachments become files only if the file's options request it. */
  readonly attachmentsOnRequest?: boolean;
}

/** The uploaded content of a file, which is already stored. */
export interface OpenedOriginal extends OpenedContent {
  /** Path of the content if it is too long for memory; `bytes` are empty then. */
  readonly path: string | null;
  readonly size: number;
  /** SHA-256, hex. */
  readonly hash: string;
  /** Format declared by the sender; null: the content is inspected. */
  readonly readAs: DocumentFormat | null;
  /** Transcript of a recording. */
  readonly transcript?: Transcript | null;
  /** Releases the opened content. */
  close(): Promise<void>;
}

/** Operations of the connectors, with the same interface for every source. */
export interface Sources {
  /** Opens a file's content; returns null if the stored copy is current. @throws Fault */
  open(ref: ContentRef, signal: AbortSignal): Promise<OpenedContent | null>;
  /**
   * Streams the pages of a sitemap and reports sitemap files that could not be read.
   * @throws Fault if none could be read
   */
  discover(
    sitemapUrl: string,
    signal: AbortSignal,
    onProblem: (problem: SitemapProblem) => void,
    usePremiumProxies: boolean,
  ): AsyncIterable<SitemapEntry>;
  /** Downloads a file of any type from a user's URL; `take` receives it as a stream. @throws Fault */
  download<T>(url: string, signal: AbortSignal, take: (file: Download) => Promise<T>): Promise<T>;
  readonly readFeed: FeedSource['readFeed'];
  /** Returns whether the site's robots.txt permits fetching a page; true while that is unknown. */
  mayFetch(url: string, signal: AbortSignal): Promise<boolean>;
}

export interface IngestSettings {
  /** Maximum number of batches of one run that are ingested in parallel. */
  readonly batchConcurrency: number;
  /** Maximum number of files of one batch that are processed in parallel. */
  readonly fileConcurrency: number;
  /** Maximum number of files of all batches of a worker that are processed in parallel. */
  readonly workerFileConcurrency: number;
  /** Milliseconds before each retry of a file; the length is the number of retries. */
  readonly retryDelaysMs: readonly number[];
  readonly maxPagesPerScrape: number;
  /** Number of first pages of a scrape that are compared to find repeated blocks. Below MIN_PAGES: none are removed. */
  readonly siteSamplePages: number;
  readonly ocr: OcrLimits;
  /** Milliseconds between checks whether a limit still delays files of a run. */
  readonly limitRecheckMs: number;
  /** Maximum time in milliseconds that a run stays paused at its token limit. */
  readonly pausedRunMs: number;
  readonly webhooks: WebhookSettings;
  /** Percentage of a data source's files that a listing may miss before their deletion is held. */
  readonly massDeletePercent: number;
  /** Milliseconds for which a file that is missing at its source can be restored; 0: it is erased immediately. */
  readonly quarantineMs: number;
}

export interface OcrLimits {
  readonly engine: OcrEngineName;
  /** Maximum number of pages of one file that OCR reads. */
  readonly maxPages: number;
  /** Maximum number of pages of one file that are read in parallel. */
  readonly pagesAtOnce: number;
  /** Codes of the languages from which OCR chooses, unless the options of the file name others. */
  readonly languages: readonly string[];
}

export interface WebhookSettings {
  /** Timeout of one delivery attempt in milliseconds. */
  readonly timeoutMs: number;
  /** Milliseconds before each retry of a delivery; the length is the number of retries. */
  readonly retryDelaysMs: readonly number[];
}

/** Dependencies of the activities. Each worker creates them once (worker/createWorker.ts). */
export interface ActivityDeps {
  readonly store: Store;
  readonly sources: Sources;
  /** Connectors of connected sources. */
  readonly connectors: Connectors;
  readonly documents: DocumentPool;
  /** Detects the type of a file from its first bytes and its name. @throws Fault for an unreadable type */
  identify(input: Pick<ParseInput, 'bytes' | 'contentType' | 'name'>): Identified;
  /** Loads the cl100k token counter on first use, because it needs about 40 MB. */
  loadCounter(): Promise<(text: string) => number>;
  readonly embeddings: Embeddings;
  /** Returns the weighted terms of a text, in a fraction of a millisecond per chunk; null if it has none. */
  encodeSparse(text: string): SparseVector | null;
  readonly transcriptions: Transcriptions;
  /**
   * Sends requests to webhooks, on other connections than the requests of ingests.
   */
  readonly webhookEgress: Pick<Egress, 'request'>;
  /** Schedules of automatic syncs. A schedule is removed before the file or data source that it syncs is deleted. */
  readonly schedules: { remove(scheduleIds: readonly string[]): Promise<void> };
  /** Returns whether vectors could not be read because their copy in file storage is damaged: a retry cannot help. */
  isBrokenCopy(error: unknown): boolean;
  readonly workflowLink: WorkflowLink;
  /** Names of this deployment in Temporal. */
  readonly names: Pick<TemporalNames, 'idOf' | 'keyOf'>;
  readonly settings: IngestSettings;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'embedded' | 'contentReceived' | 'webhookAttempt'>;
}

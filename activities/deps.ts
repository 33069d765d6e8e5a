import type { DocumentPool, HtmlSkips, Identified, ParseInput } from '../documents/types.js';
import type { Embeddings } from '../providers/embeddings/types.js';
import type { Connectors } from '../connectors/registry.js';
import type { Download, FeedSource, SitemapEntry, SitemapProblem, Validators } from '../connectors/types.js';
import type { DocumentFormat } from '../contract/fileFormats.js';
import type { WorkflowLink } from '../contract/temporalLinks.js';
import type { TemporalNames } from '../contract/temporalNames.js';
import type { SourceType } from '../contract/sources.js';
import type { SparseVector } from '../contract/sparseVectors.js';
import type { Transcript } from '../contract/transcripts.js';
import type { Egress } from '../egress/types.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics.js';
import type { Store } from '../store/connect.js';
import type { Transcriptions } from '../providers/transcription/types.js';

/** Where a file's content is, in the words of its source. */
export interface ContentRef {
  readonly source: SourceType;
  readonly externalFileId: string;
  readonly externalUrl: string | null;
  /** As the file's record keeps them. */
  readonly sourceOptions: unknown;
  /** Validators of the stored copy, for a conditional request; null to fetch in any case. */
  readonly known: Validators | null;
  /** What its data source is asked with; null for nothing. Throws a Fault once access to that was revoked. */
  credentials(): Promise<string | null>;
}

export interface OpenedContent {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  /** The contract's file_format of the content as received. */
  readonly format: string;
  readonly mimeType: string;
  /** Name and base for relative links. */
  readonly url: string;
  readonly html: HtmlSkips;
  /** By what the source recognises this copy later. */
  readonly validators: Validators;
  /** Facts for file_metadata. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** What its source calls it now; absent: as its record does. */
  readonly name?: string;
  /** As the record calls its format, whatever its reader does. */
  readonly recordedFormat?: string;
  /** Files that it contains become files only where its options say so. */
  readonly attachmentsOnRequest?: boolean;
}

/** The content that was sent for a file: it is kept already. */
export interface OpenedOriginal extends OpenedContent {
  /** Where the content lies when it is too long to be carried about; `bytes` are empty then. */
  readonly path: string | null;
  readonly size: number;
  /** SHA-256, hex. */
  readonly hash: string;
  /** What its sender said it is; null: it is looked at. */
  readonly readAs: DocumentFormat | null;
  /** Of a recording: what is said in it. */
  readonly transcript?: Transcript | null;
  /** Gives back what was opened. */
  close(): Promise<void>;
}

/** The outside world as the activities see it: what connectors offer, for every source alike. */
export interface Sources {
  /** Opens one file's content; null when the copy we have is still the content. Throws a Fault. */
  open(ref: ContentRef, signal: AbortSignal): Promise<OpenedContent | null>;
  /** Streams the pages of a sitemap; reports sitemap files that could not be read. Throws a Fault when none could. */
  discover(
    sitemapUrl: string,
    signal: AbortSignal,
    onProblem: (problem: SitemapProblem) => void,
    usePremiumProxies: boolean,
  ): AsyncIterable<SitemapEntry>;
  /** Fetches a file that a user named, whatever its type; `take` gets it as it comes. Throws a Fault. */
  download<T>(url: string, signal: AbortSignal, take: (file: Download) => Promise<T>): Promise<T>;
  readonly readFeed: FeedSource['readFeed'];
  /** Whether the site's robots.txt lets us fetch a page; true where that is not known yet. */
  mayFetch(url: string, signal: AbortSignal): Promise<boolean>;
}

export interface IngestSettings {
  /** Batches of one run under way at once. */
  readonly batchConcurrency: number;
  /** Files of one batch under way at once. */
  readonly fileConcurrency: number;
  /** Files of all batches of a worker under way at once. */
  readonly workerFileConcurrency: number;
  /** Milliseconds before each new try of a file; their number is the number of new tries. */
  readonly retryDelaysMs: readonly number[];
  readonly maxPagesPerScrape: number;
  readonly ocr: OcrLimits;
  /** Milliseconds between looks for room of a run whose files are held back by a limit. */
  readonly limitRecheckMs: number;
  /** Maximum time in milliseconds that a run stays paused at its token limit. */
  readonly pausedRunMs: number;
  readonly webhooks: WebhookSettings;
  /** Part of a data source's files that a listing may miss before their deletion is held. */
  readonly massDeletePercent: number;
  /** Milliseconds during which a vanished file can be restored; 0: it is erased at once. */
  readonly quarantineMs: number;
}

export interface OcrLimits {
  /** Pages of one file that are recognized at most. */
  readonly maxPages: number;
  /** Pages of one file under way at once. */
  readonly pagesAtOnce: number;
  /** Codes of the languages that are recognized. */
  readonly languages: readonly string[];
}

export interface WebhookSettings {
  /** For one try of a delivery. */
  readonly timeoutMs: number;
  /** Milliseconds before each new try of a delivery; their number is the number of new tries. */
  readonly retryDelaysMs: readonly number[];
}

/** What a step may use. Made once by worker/main.ts. */
export interface ActivityDeps {
  readonly store: Store;
  readonly sources: Sources;
  /** Accounts at connected sources. */
  readonly connectors: Connectors;
  readonly documents: DocumentPool;
  /** What a file is, by its first bytes and its name. Throws a Fault for what can't be read. */
  identify(input: Pick<ParseInput, 'bytes' | 'contentType' | 'name'>): Identified;
  /** What counts cl100k tokens of a text; loaded when it is first wanted, for it takes some 40 MB. */
  loadCounter(): Promise<(text: string) => number>;
  readonly embeddings: Embeddings;
  /** The terms of a text with their weights; null for a text without any. Takes a fraction of a millisecond a chunk. */
  encodeSparse(text: string): SparseVector | null;
  readonly transcriptions: Transcriptions;
  /** The way out to webhooks: apart from that of ingests, so that receivers share no connections with sites. */
  readonly receivers: Pick<Egress, 'request'>;
  /** What starts passes by itself: a record that is deleted loses it first. */
  readonly schedules: { remove(scheduleIds: readonly string[]): Promise<void> };
  /** Whether reading vectors from file storage failed because of the stored copy: retries cannot help. */
  isBrokenCopy(error: unknown): boolean;
  readonly workflowLink: WorkflowLink;
  /** Names of this deployment in Temporal. */
  readonly names: Pick<TemporalNames, 'idOf' | 'keyOf'>;
  readonly settings: IngestSettings;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'embedded' | 'contentCame' | 'webhookTry'>;
}

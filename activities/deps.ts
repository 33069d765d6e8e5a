import type { DocumentPool, HtmlSkips } from '../documents/types.js';
import type { Embeddings } from '../embeddings/types.js';
import type { Feed, SitemapEntry, SitemapProblem, Validators } from '../connectors/types.js';
import type { SourceType } from '../contract/sources.js';
import type { Egress } from '../egress/types.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../store/connect.js';

/** Where a file's content is, in the words of its source. */
export interface ContentRef {
  readonly source: SourceType;
  readonly externalFileId: string;
  readonly externalUrl: string | null;
  /** As the file's record keeps them. */
  readonly sourceOptions: unknown;
  /** What the source said of the copy we have; null to fetch in any case. */
  readonly known: Validators | null;
}

export interface OpenedContent {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  /** The contract's file_format of the content as it came. */
  readonly format: string;
  readonly mimeType: string;
  /** Name and base for relative links. */
  readonly url: string;
  readonly html: HtmlSkips;
  /** By what the source recognises this copy later. */
  readonly validators: Validators;
  /** Facts for file_metadata. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The outside world as the activities see it: what connectors offer, for every source alike. */
export interface Sources {
  /** Opens one file's content; null when the copy we have is still the content. Throws a Fault. */
  open(ref: ContentRef, signal: AbortSignal): Promise<OpenedContent | null>;
  /** Streams the pages of a sitemap; tells of sitemap files that could not be read. Throws a Fault when none could. */
  discover(
    sitemapUrl: string,
    signal: AbortSignal,
    onProblem: (problem: SitemapProblem) => void,
    usePremiumProxies: boolean,
  ): AsyncIterable<SitemapEntry>;
  /** Reads a feed. Throws a Fault. */
  readFeed(url: string, signal: AbortSignal): Promise<Feed>;
  /** Whether the site's robots.txt lets us fetch a page; true where that is not known yet. */
  mayFetch(url: string, signal: AbortSignal): Promise<boolean>;
}

export interface IngestSettings {
  /** Batches of one run under way at once. */
  readonly batchConcurrency: number;
  /** Files of one batch under way at once. */
  readonly fileConcurrency: number;
  /** Milliseconds before each new try of a file; their number is the number of new tries. */
  readonly retryDelaysMs: readonly number[];
  readonly maxPagesPerScrape: number;
  /** Milliseconds between looks for room of a run whose files are held back by a limit. */
  readonly limitRecheckMs: number;
  readonly webhooks: WebhookSettings;
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
  readonly documents: DocumentPool;
  readonly embeddings: Embeddings;
  /** The way out to webhooks: apart from that of ingests, so that receivers share no connections with sites. */
  readonly receivers: Pick<Egress, 'request'>;
  readonly settings: IngestSettings;
  readonly log: Log;
}

import type { SparseVector } from '../contract/sparseVectors.js';
import type { Connectors } from '../connectors/registry.js';
import type { WebSource } from '../connectors/types.js';
import type { EmbeddingModelId } from '../contract/embeddingModels.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import type { DocumentPool, Identified, ParseInput } from '../documents/types.js';
import type { Embeddings } from '../embeddings/types.js';
import type { Lookups } from '../lookups/types.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics.js';
import type { Reranker, Rerankers } from '../rerankers/types.js';
import type { Store } from '../store/connect.js';
import type { RateLimits } from './http/rateLimit.js';
import type { SignedUrls } from './http/signedUrls.js';
import type { Tokens } from './http/tokens.js';

/** The part of the embeddings room that a search needs. */
export type QueryEmbedder = Pick<Embeddings, 'spaceOf' | 'models' | 'embed'>;

/** The part of the rerankers room that a search needs. */
export type { Reranker };

/** The part of the web connector that live reads need. */
export interface SitemapReader {
  /** Streams the pages a sitemap names. Throws a Fault. */
  discover(sitemapUrl: string, signal: AbortSignal): AsyncIterable<{ readonly url: string }>;
}

/** The part of the way out that a registration of a webhook needs. */
export interface AddressCheck {
  /** Throws a Fault address_refused when the URL may not be called. */
  check(url: string): Promise<void>;
}

/** The parts of connectors and documents that a live read of a page needs. */
export type PageReader = Pick<WebSource, 'fetchPage'>;
export type LinkReader = Pick<DocumentPool, 'links'>;

/** One page, read while its caller waits. */
export interface LivePage {
  /** What it links to, normalised. */
  readonly urls: readonly string[];
  /** Its source, decoded. */
  readonly text: string;
}
export interface LivePages {
  /** Throws a Fault, or the signal's reason. */
  read(url: string, signal: AbortSignal): Promise<LivePage>;
}

export interface ApiSettings {
  readonly maxJsonBytes: number;
  /** Of JSON that carries contents. */
  readonly maxContentsBytes: number;
  readonly maxUploadBytes: number;
  /** The server's own cap of pages of one sitemap. */
  readonly maxPagesPerScrape: number;
  /** Of a million tokens, by model; in whatever currency the operator reckons. */
  readonly embeddingPrices: Partial<Record<EmbeddingModelId, number>>;
  /** Further addresses of this service, beside publicUrl. */
  readonly publicUrlAliases: readonly string[];
  /** How long a person may take to consent. */
  readonly consentLifeMs: number;
  /** How long a page that goes on with a connection can be opened. */
  readonly connectPageLifeMs: number;
  readonly corsOrigins: readonly string[];
  readonly rateLimits: RateLimits;
}

/** What operations may use. Made once by api/server.ts. */
export interface ApiDeps {
  readonly store: Store;
  readonly dispatcher: Pick<Dispatcher, 'start' | 'cancel' | 'ping' | 'tellPersonCame'>;
  readonly embedder: QueryEmbedder;
  /** A query as its words with their weights; null for one without words. */
  encodeQuery(text: string): SparseVector | null;
  readonly rerankers: Rerankers;
  readonly lookups: Lookups;
  /** Accounts at connected sources. */
  readonly connectors: Connectors;
  readonly sitemaps: SitemapReader;
  readonly addresses: AddressCheck;
  /** What a file is, by its first bytes and its name. Throws a Fault for what can't be read. */
  identify(input: Pick<ParseInput, 'bytes' | 'contentType' | 'name'>): Identified;
  readonly livePages: LivePages;
  readonly tokens: Tokens;
  readonly signedUrls: SignedUrls;
  /** Address under which clients reach this API, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly settings: ApiSettings;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'answered' | 'embedded'>;
}

import type { WebSource } from '../connectors/types.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import type { DocumentPool } from '../documents/types.js';
import type { EmbeddingModelId, VectorSpace } from '../contract/embeddingModels.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../store/connect.js';
import type { RateLimits } from './http/rateLimit.js';
import type { SignedUrls } from './http/signedUrls.js';
import type { Tokens } from './http/tokens.js';

/** The part of the embeddings room that a search needs. */
export interface QueryEmbedder {
  spaceOf(model: EmbeddingModelId): VectorSpace;
  embed(space: string, texts: readonly string[], purpose: 'query'): Promise<Float32Array[]>;
}

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
  /** The server's own cap of pages of one sitemap. */
  readonly maxPagesPerScrape: number;
  readonly corsOrigins: readonly string[];
  readonly rateLimits: RateLimits;
}

/** What operations may use. Made once by api/server.ts. */
export interface ApiDeps {
  readonly store: Store;
  readonly dispatcher: Pick<Dispatcher, 'start' | 'cancel' | 'ping'>;
  readonly embedder: QueryEmbedder;
  readonly sitemaps: SitemapReader;
  readonly addresses: AddressCheck;
  readonly livePages: LivePages;
  readonly tokens: Tokens;
  readonly signedUrls: SignedUrls;
  /** Address under which clients reach this API, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly settings: ApiSettings;
  readonly log: Log;
}

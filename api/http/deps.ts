import type { SparseVector } from '../../contract/vectors/sparseVectors.js';
import type { Account } from '../../connectors/account.js';
import type { Connectors } from '../../connectors/registry.js';
import type { WebSource } from '../../connectors/types.js';
import type { TemporalLinks, WorkflowLink } from '../../contract/runs/temporalLinks.js';
import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { IngestOptions, PageOptions } from '../../contract/files/ingestOptions.js';
import type { Dispatcher } from '../../dispatch/dispatcher.js';
import type { ScheduleReader } from '../../dispatch/scheduleReader.js';
import type { DocumentPool, Identified, ParseInput } from '../../documents/types.js';
import type { EngineName } from '../../engines/engine.js';
import type { Embeddings } from '../../providers/embeddings/types.js';
import type { Lookups } from '../../providers/lookups/types.js';
import type { Log } from '../../observability/log.js';
import type { Metrics } from '../../observability/metrics.js';
import type { Tracing } from '../../observability/spans.js';
import type { Reranker, Rerankers } from '../../providers/rerankers/types.js';
import type { Store } from '../../store/connect.js';
import type { ConcurrencyLimiter } from './limits/concurrency.js';
import type { NameLimiter, RateLimits } from './limits/rateLimit.js';
import type { SignedUrls } from './identity/signedUrls.js';
import type { Tokens } from './identity/tokens.js';
import type { OpsSessions } from './identity/opsSessions.js';
import type { EventStreams } from './streams/streams.js';
import type { LiveOverviews, Overviews } from './overviews.js';
import type { UnitOfWork, UnitOfWorkDeps } from './unitOfWork.js';

/** The embedding functions that a search needs. */
export type QueryEmbedder = Pick<Embeddings, 'spaceOf' | 'models' | 'embed'>;

/** The reranking functions that a search needs. */
export type { Reranker };

/** The functions of the web connector that operations call during a request. */
export interface SitemapReader {
  /** Streams the page URLs of a sitemap. Throws a Fault. */
  discover(
    sitemapUrl: string,
    signal: AbortSignal,
    /** Called if some sitemap files could not be read. */
    onProblem?: () => void,
    usePremiumProxies?: boolean,
  ): AsyncIterable<{ readonly url: string }>;
  /** Returns whether robots.txt allows fetching a page. */
  mayFetch(url: string, signal: AbortSignal): Promise<boolean>;
}

/**
 * Facts about users, found by earlier searches of this API process, which make their next searches faster. A lost entry
 * costs time, but changes no result. The key of an entry starts with the user's key.
 */
export interface SearchMemory {
  /**
   * Users with files in several embedding spaces: their next searches search all of these at once, instead of first
   * only the likely one.
   */
  readonly inSeveralSpaces: Flags;
  /** Users for whom a search found too many outdated hits: their next searches request additional hits. */
  readonly withOutdatedHits: Flags;
}
interface Flags {
  has(name: string): boolean;
  set(name: string, value: true): void;
}

/** The egress functions for operations that accept a URL. */
export interface AddressCheck {
  /** Throws a Fault address_refused if the URL may not be called. */
  check(url: string): Promise<void>;
  /** Returns whether the port of a URL may be called and, if the host is an IP literal, the host. Resolves no names. */
  mayCall(url: URL): boolean;
}

/** The functions of connectors and documents with which an operation reads a page during a request. */
export type PageReader = Pick<WebSource, 'fetchPage'>;
export type LinkReader = Pick<DocumentPool, 'links'>;

/** A page that was read during a request. */
export interface LivePage {
  /** Normalised links of the page. */
  readonly urls: readonly string[];
  /** Decoded HTML source. */
  readonly text: string;
}
export interface LivePages {
  /** Throws a Fault, or the signal's reason. */
  read(url: string, signal: AbortSignal): Promise<LivePage>;
}

/** Result of reading one page or file in a dry run. */
export interface Sample {
  /** Size in bytes of the content as received. */
  readonly bytes: number;
  /** Number of tokens of its chunks. */
  readonly tokens: number;
  /** Texts of its chunks, as they would be embedded. */
  readonly texts: readonly string[];
}
export interface PageSample extends Sample {
  /** Links that a crawl could follow. */
  readonly links: readonly string[];
  /** The URL after redirects. */
  readonly finalUrl: string;
}
/** Reads single pages and items for dry runs. Each function throws a Fault, or the signal's reason. */
export interface SampleReader {
  /** @param hosts hosts of links to return, in addition to the host after redirects; null: no links */
  page(
    url: string,
    options: PageOptions,
    ingest: IngestOptions,
    hosts: readonly string[] | null,
    signal: AbortSignal,
  ): Promise<PageSample>;
  item(
    account: Account,
    item: { readonly externalId: string; readonly name: string },
    ingest: IngestOptions,
    signal: AbortSignal,
  ): Promise<Sample>;
}

export interface ApiSettings {
  readonly maxJsonBytes: number;
  /** Maximum size of a JSON body that contains a file's content, as text or as chunks. */
  readonly maxContentsBytes: number;
  readonly maxUploadBytes: number;
  /** Maximum number of pages per scrape on this server, by sitemap or by crawl. */
  readonly maxPagesPerScrape: number;
  /** Price per million tokens, by model, in the operator's currency. */
  readonly embeddingPrices: Partial<Record<EmbeddingModelId, number>>;
  readonly dryRun: {
    /** Maximum number of pages or files that a dry run reads. */
    readonly samplePages: number;
    readonly timeoutMs: number;
  };
  /** PUBLIC_URL without a trailing slash; null if it is not set. */
  readonly publicUrl: string | null;
  /** Proxies whose x-forwarded-for is trusted: a number of hops, or addresses and ranges, in Express's format. */
  readonly trustProxy: number | readonly string[];
  /** Custom URI schemes of apps that the redirect URI of an organization's own OAuth client may use. */
  readonly redirectUriSchemes: readonly string[];
  /** Additional URLs of this service besides publicUrl. */
  readonly publicUrlAliases: readonly string[];
  /** Time limit for a user's consent. */
  readonly consentLifeMs: number;
  /** Lifetime in milliseconds of the page on which a user selects items of a connected account. */
  readonly connectPageLifeMs: number;
  /** Time limit for calls to the source in a diagnosis. */
  readonly diagnosisTimeoutMs: number;
  readonly corsOrigins: readonly string[];
  readonly rateLimits: RateLimits;
  /** Maximum number of concurrent searches per user and process; 0 means unlimited. */
  readonly maxConcurrentSearches: number;
  /** Maximum length of a query, in UTF-16 code units as JavaScript and the contract's schemas count them. */
  readonly maxQueryCharacters: number;
  /** Maximum size of the JSON of one MCP result, in characters. */
  readonly mcpMaxResultCharacters: number;
}

/** Dependencies of the operations. */
export interface ApiDeps {
  /** The store without its transactions, which belong to the unit of work. */
  readonly store: Omit<Store, 'transaction' | 'newContainers' | 'idempotency'>;
  readonly unit: UnitOfWork;
  /** Returns a sentence if free disk space is low, else null. */
  readonly diskProblem: () => Promise<string | null>;
  /**
   * Describes the failure of an engine (Temporal, MongoDB or Qdrant) that the service starts itself, and what to do.
   * Null: no failure was found, or the engine is external.
   */
  readonly engineProblem: (name: EngineName) => Promise<string | null>;
  readonly dispatcher: Pick<Dispatcher, 'cancel' | 'ping' | 'signalConsentReturned' | 'signalResumed'>;
  readonly schedules: ScheduleReader;
  readonly embedder: QueryEmbedder;
  /** Returns the terms of a query with their weights; null if it has none. */
  encodeQuery(text: string): SparseVector | null;
  readonly searchMemory: SearchMemory;
  readonly rerankers: Rerankers;
  readonly lookups: Lookups;
  /** Accounts of connected sources. */
  readonly connectors: Connectors;
  readonly sitemaps: SitemapReader;
  readonly addresses: AddressCheck;
  /** Detects the type of a file by its first bytes and its name. Throws a Fault for unsupported types. */
  identify(input: Pick<ParseInput, 'bytes' | 'contentType' | 'name'>): Identified;
  readonly livePages: LivePages;
  readonly samples: SampleReader;
  /** Limit of concurrent dry runs, by user. */
  readonly dryRuns: ConcurrencyLimiter;
  readonly tokens: Tokens;
  /** Sign-in sessions of the operator pages, kept in cookies. */
  readonly opsSessions: OpsSessions;
  /** Rate limit of sign-in attempts, by client address. */
  readonly signInAttempts: NameLimiter;
  readonly overviews: Overviews;
  /** Live state of the operator page. */
  readonly live: LiveOverviews;
  /** Streams of events for API clients. */
  readonly eventStreams: EventStreams;
  readonly temporalLinks: TemporalLinks;
  readonly signedUrls: SignedUrls;
  /** URL at which clients reach this API, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly workflowLink: WorkflowLink;
  readonly settings: ApiSettings;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'answered' | 'embedded'>;
  /** Absent: requests are not traced. */
  readonly tracing?: Tracing;
}

/**
 * Dependencies of the application, created once in createApi.ts. The unit of work of each request is derived from them.
 */
export type AppDeps = Omit<ApiDeps, 'unit'> & UnitOfWorkDeps & { readonly store: Pick<Store, 'idempotency'> };

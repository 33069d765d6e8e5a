import type { SparseVector } from '../contract/sparseVectors.js';
import type { Account } from '../connectors/account.js';
import type { Connectors } from '../connectors/registry.js';
import type { WebSource } from '../connectors/types.js';
import type { TemporalLinks, WorkflowLink } from '../contract/temporalLinks.js';
import type { EmbeddingModelId } from '../contract/embeddingModels.js';
import type { IngestOptions, PageOptions } from '../contract/ingestOptions.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import type { ScheduleReader } from '../dispatch/scheduleReader.js';
import type { DocumentPool, Identified, ParseInput } from '../documents/types.js';
import type { EngineName } from '../engines/engine.js';
import type { Embeddings } from '../providers/embeddings/types.js';
import type { Lookups } from '../providers/lookups/types.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics.js';
import type { Tracing } from '../observability/spans.js';
import type { Reranker, Rerankers } from '../providers/rerankers/types.js';
import type { Store } from '../store/connect.js';
import type { NameLimiter, RateLimits } from './http/rateLimit.js';
import type { SignedUrls } from './http/signedUrls.js';
import type { Tokens } from './http/tokens.js';
import type { OpsSessions } from './http/opsSessions.js';
import type { LiveOverviews } from './ops/live.js';
import type { Overviews } from './ops/overview.js';
import type { UnitOfWork, UnitOfWorkDeps } from './http/unitOfWork.js';

/** The part of the embeddings room that a search needs. */
export type QueryEmbedder = Pick<Embeddings, 'spaceOf' | 'models' | 'embed'>;

/** The part of the rerankers room that a search needs. */
export type { Reranker };

/** The part of the web connector that live reads need. */
export interface SitemapReader {
  /** Streams the pages a sitemap names. Throws a Fault. */
  discover(
    sitemapUrl: string,
    signal: AbortSignal,
    /** Told of files that could not be read beside others that could. */
    onProblem?: () => void,
    usePremiumProxies?: boolean,
  ): AsyncIterable<{ readonly url: string }>;
  /** Whether robots.txt lets us fetch a page. */
  mayFetch(url: string, signal: AbortSignal): Promise<boolean>;
}

/** The part of the egress that operations need which accept a URL. */
export interface AddressCheck {
  /** Throws a Fault address_refused when the URL may not be called. */
  check(url: string): Promise<void>;
  /** Whether a URL may be called by its port and, if its host is an IP literal, its host. Resolves no names. */
  mayCall(url: URL): boolean;
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

/** What reading one content has found. */
export interface Sample {
  /** Of the content as it came. */
  readonly bytes: number;
  /** Of its chunks. */
  readonly tokens: number;
  /** Of its chunks, as they would be embedded. */
  readonly texts: readonly string[];
}
export interface PageSample extends Sample {
  /** What a crawl could follow. */
  readonly links: readonly string[];
  /** Where redirects ended. */
  readonly endedAt: string;
}
/** Reads single contents for dry runs. Each throws a Fault, or the signal's reason. */
export interface SampleReader {
  /** @param hosts of links that are wanted, beside the one that redirects end at; null: none are */
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
  /** Of JSON that carries contents. */
  readonly maxContentsBytes: number;
  readonly maxUploadBytes: number;
  /** The server's own cap of pages of one sitemap. */
  readonly maxPagesPerScrape: number;
  /** Of a million tokens, by model; in whatever currency the operator reckons. */
  readonly embeddingPrices: Partial<Record<EmbeddingModelId, number>>;
  readonly dryRun: {
    /** Pages, or files, that a dry run reads at most. */
    readonly samplePages: number;
    readonly timeoutMs: number;
  };
  /** PUBLIC_URL without a trailing slash; null where it is unset. */
  readonly publicUrl: string | null;
  /** Proxies whose x-forwarded-for is believed: a number of hops, or addresses and ranges, as Express takes them. */
  readonly trustProxy: number | readonly string[];
  /** Schemes of apps that a white label's redirect URI may have. */
  readonly redirectUriSchemes: readonly string[];
  /** Further addresses of this service, beside publicUrl. */
  readonly publicUrlAliases: readonly string[];
  /** How long a person may take to consent. */
  readonly consentLifeMs: number;
  /** How long a page that goes on with a connection can be opened. */
  readonly connectPageLifeMs: number;
  /** How long the diagnosis of a data source may ask its source. */
  readonly diagnosisTimeoutMs: number;
  readonly corsOrigins: readonly string[];
  readonly rateLimits: RateLimits;
  /** Of one user at the same time, in this process; 0 is no limit. */
  readonly maxConcurrentSearches: number;
  /** Maximum length of a query, in UTF-16 code units as JavaScript and the contract's schemas count them. */
  readonly maxQueryCharacters: number;
}

/** What operations may use. */
export interface ApiDeps {
  /** Without its transactions, which are the unit of work's. */
  readonly store: Omit<Store, 'transaction' | 'newContainers' | 'idempotency'>;
  readonly unit: UnitOfWork;
  /** Returns a sentence where free disk space is low; null where it is not. */
  readonly diskTrouble: () => Promise<string | null>;
  /** Describes an embedded engine that does not answer and what to do; null for a server that is started elsewhere. */
  readonly engineTrouble: (name: EngineName) => Promise<string | null>;
  readonly dispatcher: Pick<Dispatcher, 'cancel' | 'ping' | 'tellPersonCame' | 'tellResumed'>;
  readonly schedules: ScheduleReader;
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
  readonly samples: SampleReader;
  readonly tokens: Tokens;
  /** Browsers that look at the page of operators. */
  readonly opsSessions: OpsSessions;
  /** Keys that are tried there, by the address that tries. */
  readonly signInTries: NameLimiter;
  readonly overviews: Overviews;
  /** The same, kept up to date. */
  readonly live: LiveOverviews;
  readonly temporalLinks: TemporalLinks;
  readonly signedUrls: SignedUrls;
  /** Address under which clients reach this API, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly workflowLink: WorkflowLink;
  readonly settings: ApiSettings;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'answered' | 'embedded'>;
  /** Unset: requests are in no trace. */
  readonly tracing?: Tracing;
}

/** What the application is made of, once, in createApi.ts: each request's unit of work comes from it. */
export type AppDeps = Omit<ApiDeps, 'unit'> & UnitOfWorkDeps & { readonly store: Pick<Store, 'idempotency'> };

/** What the settings come to, as the parts of the service take them. */
import type { OAuthClients } from '../connectors/oauth/clients.js';
import type { SourceUrls } from '../connectors/readSourceUrls.js';
import type { EmbeddingModelId } from '../contract/embeddingModels.js';
import type { OcrSettings } from '../documents/pool.js';
import type { DocumentLimits } from '../documents/types.js';
import type { EgressSettings } from '../egress/types.js';
import type { ProviderSettings } from '../providers/embeddings/registry.js';
import type { LookupSettings } from '../providers/lookups/types.js';
import type { DiskSettings } from '../observability/diskSpace.js';
import type { RerankSettings } from '../providers/rerankers/types.js';
import type { TracingSettings } from '../observability/spans.js';
import type { VectorSettings } from '../store/vectors/vectors.js';
import type { S3Settings } from '../store/contents/blobs.js';
import type { TranscriptionSettings } from '../providers/transcription/types.js';

export interface SecretKey {
  readonly id: string;
  readonly key: Buffer;
}

export interface Config {
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash; null until the port is known (PORT=0). */
  readonly publicUrl: string | null;
  readonly dataDir: string;
  readonly logLevel: string;
  readonly disks: DiskSettings;
  readonly apiKey: string | null;
  readonly secretKeys: readonly SecretKey[];
  readonly temporal: {
    readonly address: string | null;
    readonly namespace: string;
    readonly taskQueue: string;
    readonly uiUrl: string | null;
  };
  readonly mongodbUri: string | null;
  readonly qdrant: Omit<VectorSettings, 'url'> & { readonly url: string | null };
  readonly textCacheBytes: number;
  readonly files: { readonly dir: string; readonly s3: S3Settings | null; readonly rowBytes: number };
  readonly egress: EgressSettings;
  /** Where connected sources are. */
  readonly connectors: {
    readonly urls: SourceUrls;
    readonly clients: OAuthClients;
    readonly maxItemBytes: number;
    readonly patienceMs: number;
  };
  readonly web: {
    readonly maxPageBytes: number;
    readonly pageTimeoutMs: number;
    readonly sitemapMaxBytes: number;
    readonly sitemapMaxFiles: number;
    readonly sitemapMaxDepth: number;
    readonly maxPagesPerScrape: number;
    readonly obeyRobots: boolean;
    readonly chromiumPath: string | null;
    readonly installChromium: boolean;
    readonly browserMaxPages: number;
    readonly maxDownloadBytes: number;
    readonly downloadTimeoutMs: number;
    readonly userAgent: string;
    readonly requestsPerHost: number;
  };
  readonly documents: {
    readonly threads: number;
    readonly timeoutMs: number;
    readonly memoryMb: number;
    readonly files: { readonly processes: number; readonly timeoutMs: number; readonly memoryMb: number };
    readonly ocr: OcrSettings;
    readonly limits: DocumentLimits;
  };
  readonly embedding: {
    readonly threads: number;
    /** Of the embedded model's processes, beside that of the worker. */
    readonly niceness: number;
    readonly modelPath: string | null;
    readonly tokenizerPath: string | null;
    readonly providers: ProviderSettings;
    /** Of a million tokens, by model. */
    readonly prices: Partial<Record<EmbeddingModelId, number>>;
    /** The way out to them. */
    readonly egress: EgressSettings;
  };
  /** Requests leave the way that those to embedding providers do. */
  readonly rerank: RerankSettings;
  /** Likewise. */
  readonly lookups: LookupSettings;
  readonly transcription: TranscriptionSettings & {
    readonly concurrency: number;
    /** The way out to the services. */
    readonly egress: EgressSettings;
  };
  readonly ingest: {
    readonly batchConcurrency: number;
    readonly fileConcurrency: number;
    readonly workerFileConcurrency: number;
    readonly activityConcurrency: number;
    /** Files under way at once whose pages are recognized. */
    readonly ocrConcurrency: number;
    readonly ocr: { readonly maxPages: number; readonly pagesAtOnce: number; readonly languages: readonly string[] };
    /** Milliseconds before each new try. */
    readonly retryDelaysMs: readonly number[];
    /** Milliseconds between looks for room of a run that is held back by a limit. */
    readonly limitRecheckMs: number;
    /** Milliseconds that a run stands still at its bound of tokens at most. */
    readonly pausedRunMs: number;
    /** Part of a source's files that a listing may miss before their deletion is held. */
    readonly massDeletePercent: number;
    /** Milliseconds that what vanished at its source can be had back. */
    readonly quarantineMs: number;
  };
  readonly dryRun: {
    /** Pages, or files, that a dry run reads at most. */
    readonly samplePages: number;
    readonly timeoutMs: number;
  };
  readonly webhooks: {
    readonly timeoutMs: number;
    /** Milliseconds before each new try. */
    readonly retryDelaysMs: readonly number[];
    readonly connectionsPerHost: number;
  };
  readonly metrics: {
    /** Null: who reaches them may read them. */
    readonly token: string | null;
    /** Null: the API serves none. */
    readonly port: number | null;
    /** Null: a worker serves none. */
    readonly workerPort: number | null;
    readonly host: string;
  };
  /** The page of operators. */
  readonly ops: { readonly sessionMs: number; readonly mostClients: number; readonly tickMs: number };
  readonly tracing: TracingSettings;
  readonly eventsKeptDays: number;
  readonly ledgerLifeDays: number;
  readonly maxQueuedFiles: number;
  readonly workerNiceness: number;
  /** Milliseconds between rounds of the reaper. */
  readonly reapIntervalMs: number;
  /** Milliseconds between reads of the stored version of the records. */
  readonly schemaCheckMs: number;
  /** Milliseconds without progress after which a run can be stalled. */
  readonly stallAfterMs: number;
  readonly coldSweepIntervalMs: number;
  readonly quarantineSweepIntervalMs: number;
  readonly scheduleCompareIntervalMs: number;
  readonly http: {
    readonly maxJsonBytes: number;
    readonly maxContentsBytes: number;
    readonly maxUploadBytes: number;
    readonly requestTimeoutMs: number;
    /** Milliseconds that a request waits for one call to a store. */
    readonly storeTimeoutMs: number;
    /** PUBLIC_URL without a trailing slash; null where it is unset. */
    readonly publicUrl: string | null;
    /** A number of hops, or addresses and ranges, as Express takes them. */
    readonly trustProxy: number | readonly string[];
    readonly redirectUriSchemes: readonly string[];
    readonly publicUrlAliases: readonly string[];
    readonly consentLifeMs: number;
    readonly connectPageLifeMs: number;
    readonly diagnosisTimeoutMs: number;
    readonly corsOrigins: readonly string[];
    /** Requests a minute; 0 is no limit. */
    readonly rateLimits: { readonly perUser: number; readonly perOrganization: number };
    readonly maxConcurrentSearches: number;
    readonly maxQueryCharacters: number;
  };
}

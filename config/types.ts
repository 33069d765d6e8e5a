/** The configuration, grouped by the parts of the service that use it. */
import type { OAuthClients } from '../connectors/oauth/clients.js';
import type { SourceUrls } from '../connectors/readSourceUrls.js';
import type { EmbeddingModelId } from '../contract/vectors/embeddingModels.js';
import type { OcrEngineName } from '../contract/files/ocrLanguages.js';
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
  /** Connected sources. */
  readonly connectors: {
    readonly urls: SourceUrls;
    readonly clients: OAuthClients;
    readonly maxItemBytes: number;
    readonly timeLimitMs: number;
  };
  readonly web: {
    readonly maxPageBytes: number;
    readonly pageTimeoutMs: number;
    readonly sitemapMaxBytes: number;
    readonly sitemapMaxFiles: number;
    readonly sitemapMaxDepth: number;
    readonly maxPagesPerScrape: number;
    readonly siteSamplePages: number;
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
    readonly ocr: OcrSettings & {
      /** Folders in which to search for the program `tesseract`, as in PATH. Null: the WASM engine is used. */
      readonly searchPath: string | null;
    };
    readonly limits: DocumentLimits;
  };
  readonly embedding: {
    readonly threads: number;
    /** Niceness that is added to that of the parent process, for the embedded model's processes; as for nice(1). */
    readonly niceness: number;
    readonly modelPath: string | null;
    readonly tokenizerPath: string | null;
    readonly providers: ProviderSettings;
    /** Price per million tokens, by model, in the operator's currency. */
    readonly prices: Partial<Record<EmbeddingModelId, number>>;
    /** Egress settings for providers. */
    readonly egress: EgressSettings;
  };
  /** Uses the egress settings of embedding providers. */
  readonly rerank: RerankSettings;
  /** Uses the egress settings of embedding providers. */
  readonly lookups: LookupSettings;
  readonly transcription: TranscriptionSettings & {
    readonly concurrency: number;
    /** Egress settings for the transcription services. */
    readonly egress: EgressSettings;
  };
  readonly ingest: {
    readonly batchConcurrency: number;
    readonly fileConcurrency: number;
    readonly workerFileConcurrency: number;
    readonly activityConcurrency: number;
    /** Maximum number of files in OCR at the same time. */
    readonly ocrConcurrency: number;
    readonly ocr: {
      readonly engine: OcrEngineName;
      readonly maxPages: number;
      readonly pagesAtOnce: number;
      readonly languages: readonly string[];
    };
    /** Milliseconds before each retry. */
    readonly retryDelaysMs: readonly number[];
    /** Milliseconds between checks whether a run that a limit delays may continue. */
    readonly limitRecheckMs: number;
    /** Maximum time in milliseconds that a run stays paused at its token limit. */
    readonly pausedRunMs: number;
    /** Percentage of a source's files that a listing may miss before their deletion is held. */
    readonly massDeletePercent: number;
    /** Milliseconds during which a file that vanished at its source can be restored. */
    readonly quarantineMs: number;
  };
  readonly dryRun: {
    /** Maximum number of pages or files that a dry run reads. */
    readonly samplePages: number;
    readonly timeoutMs: number;
  };
  readonly webhooks: {
    readonly timeoutMs: number;
    /** Milliseconds before each retry. */
    readonly retryDelaysMs: readonly number[];
    readonly connectionsPerHost: number;
  };
  readonly metrics: {
    /** Null: no token is required. */
    readonly token: string | null;
    /** Null: the API serves no metrics. */
    readonly port: number | null;
    /** Null: a worker serves no metrics. */
    readonly workerPort: number | null;
    readonly host: string;
  };
  /** The operator page. */
  readonly ops: { readonly sessionMs: number; readonly maxClients: number; readonly tickMs: number };
  readonly eventStreams: {
    readonly maxOpen: number;
    readonly perUser: number;
    readonly lifetimeMs: number;
    readonly tickMs: number;
  };
  readonly tracing: TracingSettings;
  readonly eventsKeptDays: number;
  readonly ledgerLifeDays: number;
  readonly maxQueuedFiles: number;
  readonly workerNiceness: number;
  /**
   * Milliseconds between iterations of the reaper, which ends or restarts runs whose workflow no longer exists. It also
   * resumes paused runs without files, and deletes the contents of interrupted uploads. After the same time, a worker
   * checks whether the delivery workflow of a webhook that it has signalled still runs.
   */
  readonly reapIntervalMs: number;
  /** Milliseconds between reads of the stored schema version. */
  readonly schemaCheckMs: number;
  /** Milliseconds without progress after which a run with due work counts as stalled, if a cause is found. */
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
    /** PUBLIC_URL without a trailing slash; null if it is not set. */
    readonly publicUrl: string | null;
    /** A number of hops, or addresses and ranges, in Express's format. */
    readonly trustProxy: number | readonly string[];
    readonly redirectUriSchemes: readonly string[];
    readonly publicUrlAliases: readonly string[];
    readonly consentLifeMs: number;
    readonly connectPageLifeMs: number;
    readonly diagnosisTimeoutMs: number;
    readonly corsOrigins: readonly string[];
    /** Requests per minute; 0 disables the limit. */
    readonly rateLimits: { readonly perUser: number; readonly perOrganization: number };
    readonly maxConcurrentSearches: number;
    readonly maxQueryCharacters: number;
    readonly mcpMaxResultCharacters: number;
  };
}

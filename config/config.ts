/**
 * Reads and validates every setting once at start. Nothing else reads process.env. `npm run docs:settings` writes
 * `docs/settings.md` from SETTINGS; a test checks that the page is current.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Joi from 'joi';

import { readOAuthClients } from '../connectors/oauth/clients.js';
import { readSourceUrls } from '../connectors/readSourceUrls.js';
import { DAY_MS } from '../contract/files/coldStorage.js';

import { readRedirectUriSchemes, readTrustProxy } from '../contract/httpSettings.js';

import type { EgressSettings } from '../egress/types.js';
import { readPrices } from '../providers/embeddings/readPrices.js';
import { readProviders } from '../providers/embeddings/readProviders.js';
import type { ProviderSettings } from '../providers/embeddings/registry.js';

import { readOtlpHeaders } from '../observability/tracing.js';
import { StartError } from '../contract/startError.js';
import { SETTINGS } from './settings.js';
import type { Config, SecretKey } from './types.js';
import type { CollectionLayout } from '../store/vectors/layout.js';

import type { TranscriptionService } from '../contract/files/uploads.js';

/** Invalid settings. The message lists each problem on its own line. */
export class ConfigError extends StartError {}

/**
 * Returns the settings of the embedded engines, as engines/start.ts wrote them; empty if they never ran with this data
 * folder.
 */
function runningEngines(dataDir: string): Record<string, string> {
  const file = path.join(dataDir, 'engines.json');
  if (!existsSync(file)) return {};
  const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return typeof found === 'object' && found !== null ? (found as Record<string, string>) : {};
}

/** Parses the keys in SECRET_KEY. @throws ConfigError */
export function readSecretKeys(value: string): SecretKey[] {
  return value.split(',').map((part) => {
    const [id, encoded] = part.trim().split(':');
    const key = Buffer.from(encoded ?? '', 'base64');
    if (!id || key.length !== 32) {
      throw new ConfigError(
        'SECRET_KEY: each key is `id:base64 of 32 bytes`; generate one with: openssl rand -base64 32',
      );
    }
    return { id, key };
  });
}

const list = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/**
 * Reads and validates every setting. URLs that are not set default to the embedded engines of the same DATA_DIR, so
 * `npm run worker` needs no settings while `npm start` runs.
 * @throws ConfigError that names every invalid setting
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const schema = Joi.object(
    Object.fromEntries(Object.entries(SETTINGS).map(([name, setting]) => [name, setting.schema])),
  );
  const present = Object.fromEntries(Object.entries(env).filter(([name, value]) => name in SETTINGS && value !== ''));
  const { value, error } = schema.validate(present, { abortEarly: false, convert: true });
  if (error) {
    throw new ConfigError(
      `These settings can't be used:\n${error.details.map((detail) => `- ${detail.message}`).join('\n')}`,
    );
  }
  const values = value as Record<keyof typeof SETTINGS, unknown>;
  // The schemas have validated these types.
  const string = (name: keyof typeof SETTINGS) => values[name] as string;
  const number = (name: keyof typeof SETTINGS) => values[name] as number;
  const flag = (name: keyof typeof SETTINGS) => values[name] as boolean;
  const dataDir = path.resolve(string('DATA_DIR'));
  const embedded = runningEngines(dataDir);
  const given = (name: keyof typeof SETTINGS): string | null => (values[name] as string | undefined) ?? null;
  const addressOf = (name: keyof typeof SETTINGS) => string(name).replace(/\/+$/, '');
  const optionalAddress = (name: keyof typeof SETTINGS) => given(name) && addressOf(name);
  const s3 = given('S3_BUCKET');
  const fileStorageDir = path.resolve(given('FILE_STORAGE_DIR') ?? path.join(dataDir, 'files'));
  const accessKeyId = given('S3_ACCESS_KEY_ID');
  const secretAccessKey = given('S3_SECRET_ACCESS_KEY');
  const egress: EgressSettings = {
    allowedPrivateHosts: list(string('ALLOWED_PRIVATE_HOSTS')),
    allowedPorts: list(string('ALLOWED_PORTS')).map(Number),
    userAgent: string('USER_AGENT'),
    connectTimeoutMs: number('CONNECT_TIMEOUT_MS'),
    headersTimeoutMs: number('HEADERS_TIMEOUT_MS'),
    bodyTimeoutMs: number('BODY_TIMEOUT_MS'),
    maxRedirects: number('MAX_REDIRECTS'),
    connectionsPerHost: number('CONNECTIONS_PER_HOST'),
    premiumProxies: list(string('PREMIUM_PROXY_URLS')),
  };
  const timeoutMs = number('EMBEDDING_TIMEOUT_MS');
  const maxConcurrency = Math.max(number('EMBEDDING_MIN_CONCURRENCY'), number('EMBEDDING_MAX_CONCURRENCY'));
  return {
    port: number('PORT'),
    host: string('HOST'),
    publicUrl:
      given('PUBLIC_URL')?.replace(/\/+$/, '') ??
      (number('PORT') === 0 ? null : `http://${string('HOST')}:${String(number('PORT'))}`),
    dataDir,
    logLevel: string('LOG_LEVEL'),
    disks: {
      minFreeBytes: number('MIN_FREE_DISK_BYTES'),
      folders: [
        { name: 'DATA_DIR', path: dataDir },
        // Each folder may be a volume.
        ...['mongodb', 'qdrant', 'temporal'].map((one) => ({ name: `DATA_DIR/${one}`, path: path.join(dataDir, one) })),
        ...(s3 === null ? [{ name: 'FILE_STORAGE_DIR', path: fileStorageDir }] : []),
      ],
    },
    apiKey: given('API_KEY') ?? kept(dataDir, 'api-key'),
    secretKeys: readSecretKeys(
      given('SECRET_KEY') ??
        kept(dataDir, 'secret-key') ??
        missing('SECRET_KEY', 'openssl rand -base64 32 generates the part after `id:`'),
    ),
    temporal: {
      address: given('TEMPORAL_ADDRESS') ?? embedded['temporalAddress'] ?? null,
      namespace: string('TEMPORAL_NAMESPACE'),
      taskQueue: string('TASK_QUEUE'),
      uiUrl: given('TEMPORAL_UI_URL') ?? embedded['temporalUiUrl'] ?? null,
    },
    mongodbUri: given('MONGODB_URI') ?? embedded['mongodbUri'] ?? null,
    qdrant: {
      url: given('QDRANT_URL') ?? embedded['qdrantUrl'] ?? null,
      apiKey: given('QDRANT_API_KEY'),
      prefix: string('QDRANT_COLLECTION_PREFIX'),
      layout: {
        shards: number('QDRANT_SHARDS'),
        replicas: number('QDRANT_REPLICAS'),
        writeConsistency: number('QDRANT_WRITE_CONSISTENCY'),
        quantization: string('QDRANT_QUANTIZATION') as CollectionLayout['quantization'],
        onDisk: list(string('QDRANT_ON_DISK')) as unknown as CollectionLayout['onDisk'],
      },
      writes: { maxBytes: number('QDRANT_WRITE_BYTES'), atOnce: number('QDRANT_WRITES_AT_ONCE') },
    },
    textCacheBytes: number('TEXT_CACHE_BYTES'),
    files: {
      dir: fileStorageDir,
      rowBytes: number('CONTENT_ROW_BYTES'),
      s3:
        s3 === null
          ? null
          : {
              bucket: s3,
              endpoint: given('S3_ENDPOINT'),
              region: string('S3_REGION'),
              credentials: accessKeyId !== null && secretAccessKey !== null ? { accessKeyId, secretAccessKey } : null,
            },
    },
    egress,
    connectors: {
      urls: readSourceUrls(string('SOURCE_URLS')),
      clients: readOAuthClients(string('OAUTH_CLIENTS')),
      // Items are read into memory completely. Larger ones could not be parsed, so they are not fetched.
      maxItemBytes: Math.min(number('MAX_UPLOAD_BYTES'), number('MAX_DOCUMENT_BYTES')),
      patienceMs: number('SOURCE_PATIENCE_MS'),
    },
    web: {
      maxPageBytes: number('MAX_PAGE_BYTES'),
      pageTimeoutMs: number('PAGE_TIMEOUT_MS'),
      sitemapMaxBytes: number('SITEMAP_MAX_BYTES'),
      sitemapMaxFiles: number('SITEMAP_MAX_FILES'),
      sitemapMaxDepth: number('SITEMAP_MAX_DEPTH'),
      maxPagesPerScrape: number('MAX_PAGES_PER_SCRAPE'),
      obeyRobots: flag('OBEY_ROBOTS'),
      chromiumPath: given('CHROMIUM_PATH'),
      installChromium: flag('INSTALL_CHROMIUM'),
      browserMaxPages: number('BROWSER_MAX_PAGES'),
      maxDownloadBytes: number('MAX_UPLOAD_BYTES'),
      downloadTimeoutMs: number('DOWNLOAD_TIMEOUT_MS'),
      userAgent: string('USER_AGENT'),
      requestsPerHost: number('CONNECTIONS_PER_HOST'),
    },
    documents: {
      threads: number('PARSE_THREADS'),
      timeoutMs: number('PARSE_TIMEOUT_MS'),
      memoryMb: number('PARSE_MEMORY_MB'),
      files: {
        processes: number('PARSE_PROCESSES'),
        timeoutMs: number('PARSE_FILE_TIMEOUT_MS'),
        memoryMb: number('PARSE_FILE_MEMORY_MB'),
      },
      ocr: {
        processes: number('OCR_PROCESSES'),
        timeoutMs: number('OCR_PAGE_TIMEOUT_MS'),
        memoryMb: number('OCR_MEMORY_MB'),
        languages: list(string('OCR_LANGUAGES')),
        folder: path.join(dataDir, 'ocr-languages'),
        maxPixels: number('MAX_OCR_PIXELS'),
        niceness: number('COMPUTE_NICENESS'),
      },
      limits: {
        maxDepth: number('MAX_ELEMENT_DEPTH'),
        maxAttributesPerElement: number('MAX_ELEMENT_ATTRIBUTES'),
        maxHtmlDepth: number('MAX_HTML_DEPTH'),
        maxHtmlAttributes: number('MAX_HTML_ATTRIBUTES'),
        maxTextCharacters: number('MAX_TEXT_CHARACTERS'),
        maxFileBytes: number('MAX_DOCUMENT_BYTES'),
        maxArchiveEntries: number('MAX_ARCHIVE_ENTRIES'),
        maxUnpackedBytes: number('MAX_UNPACKED_BYTES'),
        maxUnpackRatio: number('MAX_UNPACK_RATIO'),
        maxPages: number('MAX_DOCUMENT_PAGES'),
        maxCells: number('MAX_TABLE_CELLS'),
        maxAttachments: number('MAX_ATTACHMENTS'),
      },
    },
    embedding: {
      threads: number('EMBEDDING_THREADS'),
      niceness: number('COMPUTE_NICENESS'),
      modelPath: given('EMBEDDING_MODEL_PATH') ?? embedded['modelPath'] ?? null,
      tokenizerPath: given('EMBEDDING_TOKENIZER_PATH') ?? embedded['tokenizerPath'] ?? null,
      providers: {
        ...providers((name) => given(name as keyof typeof SETTINGS)),
        pace: {
          minConcurrency: number('EMBEDDING_MIN_CONCURRENCY'),
          maxConcurrency,
          tries: number('EMBEDDING_TRIES'),
          timeoutMs,
          patienceMs: number('EMBEDDING_PATIENCE_MS'),
        },
      },
      prices: readPrices(given('EMBEDDING_PRICES') ?? ''),
      // A model may respond as late as the request timeout allows.
      egress: {
        ...egress,
        connectionsPerHost: maxConcurrency,
        headersTimeoutMs: timeoutMs,
        bodyTimeoutMs: timeoutMs,
      },
    },
    rerank: {
      timeoutMs: number('RERANK_TIMEOUT_MS'),
      services: {
        cohere: { apiKey: given('COHERE_API_KEY'), baseUrl: addressOf('COHERE_BASE_URL') },
        jina: { apiKey: given('JINA_API_KEY'), baseUrl: addressOf('JINA_BASE_URL') },
        pongo: { apiKey: given('PONGO_API_KEY'), baseUrl: addressOf('PONGO_BASE_URL') },
      },
    },
    lookups: {
      timeoutMs: number('LOOKUP_TIMEOUT_MS'),
      search: {
        brave: { apiKey: given('BRAVE_SEARCH_API_KEY'), baseUrl: addressOf('BRAVE_SEARCH_BASE_URL') },
        searxng: { apiKey: null, baseUrl: optionalAddress('SEARXNG_BASE_URL') },
      },
      transcripts: {
        supadata: { apiKey: given('SUPADATA_API_KEY'), baseUrl: addressOf('SUPADATA_BASE_URL') },
        invidious: { apiKey: null, baseUrl: optionalAddress('INVIDIOUS_BASE_URL') },
      },
    },
    transcription: {
      preferred: given('TRANSCRIPTION_SERVICE') as TranscriptionService | null,
      concurrency: number('TRANSCRIPTION_CONCURRENCY'),
      timeoutMs: number('TRANSCRIPTION_TIMEOUT_S') * 1000,
      pollMs: number('ASSEMBLYAI_POLL_S') * 1000,
      services: {
        deepgram: {
          apiKey: given('DEEPGRAM_API_KEY'),
          baseUrl: addressOf('DEEPGRAM_BASE_URL'),
          model: string('DEEPGRAM_MODEL'),
        },
        assemblyai: {
          apiKey: given('ASSEMBLYAI_API_KEY'),
          baseUrl: addressOf('ASSEMBLYAI_BASE_URL'),
          model: string('ASSEMBLYAI_MODEL'),
        },
      },
      egress: {
        ...egress,
        // The service responds when the transcription is complete.
        headersTimeoutMs: number('TRANSCRIPTION_TIMEOUT_S') * 1000,
        connectionsPerHost: 2 * number('TRANSCRIPTION_CONCURRENCY'),
      },
    },
    ingest: {
      batchConcurrency: number('BATCH_CONCURRENCY'),
      fileConcurrency: number('FILE_CONCURRENCY'),
      workerFileConcurrency: number('WORKER_FILE_CONCURRENCY'),
      activityConcurrency: number('ACTIVITY_CONCURRENCY'),
      ocrConcurrency: number('OCR_CONCURRENCY'),
      ocr: {
        maxPages: number('MAX_OCR_PAGES'),
        pagesAtOnce: number('OCR_PROCESSES'),
        languages: list(string('OCR_LANGUAGES')),
      },
      retryDelaysMs: list(string('RETRY_DELAYS_S')).map((seconds) => Number(seconds) * 1000),
      limitRecheckMs: number('LIMIT_RECHECK_S') * 1000,
      pausedRunMs: number('PAUSED_RUN_DAYS') * DAY_MS,
      massDeletePercent: number('MASS_DELETE_PERCENT'),
      quarantineMs: number('QUARANTINE_DAYS') * DAY_MS,
    },
    dryRun: { samplePages: number('DRY_RUN_SAMPLE_PAGES'), timeoutMs: number('DRY_RUN_TIMEOUT_S') * 1000 },
    webhooks: {
      timeoutMs: number('WEBHOOK_TIMEOUT_MS'),
      retryDelaysMs: list(string('WEBHOOK_RETRY_DELAYS_S')).map((seconds) => Number(seconds) * 1000),
      connectionsPerHost: number('WEBHOOK_CONNECTIONS_PER_HOST'),
    },
    metrics: {
      token: given('METRICS_TOKEN'),
      port: (values['METRICS_PORT'] as number | undefined) ?? null,
      workerPort: (values['WORKER_METRICS_PORT'] as number | undefined) ?? null,
      host: string('METRICS_HOST'),
    },
    tracing: {
      endpoint: optionalAddress('OTEL_EXPORTER_OTLP_ENDPOINT'),
      headers: readOtlpHeaders(given('OTEL_EXPORTER_OTLP_HEADERS') ?? ''),
      ratio: number('OTEL_TRACES_SAMPLER_ARG'),
    },
    eventsKeptDays: number('EVENTS_KEPT_DAYS'),
    ledgerLifeDays: number('LEDGER_LIFE_DAYS'),
    maxQueuedFiles: number('MAX_QUEUED_FILES'),
    workerNiceness: number('WORKER_NICENESS'),
    stallAfterMs: number('STALL_AFTER_S') * 1_000,
    reapIntervalMs: number('REAP_INTERVAL_S') * 1000,
    schemaCheckMs: number('SCHEMA_CHECK_INTERVAL_S') * 1000,
    coldSweepIntervalMs: number('COLD_SWEEP_INTERVAL_S') * 1000,
    quarantineSweepIntervalMs: number('QUARANTINE_SWEEP_INTERVAL_S') * 1000,
    scheduleCompareIntervalMs: number('SCHEDULE_COMPARE_INTERVAL_S') * 1000,
    ops: {
      sessionMs: number('OPS_SESSION_S') * 1000,
      maxClients: number('OPS_CLIENTS'),
      tickMs: number('OPS_TICK_MS'),
    },
    eventStreams: {
      most: number('EVENT_STREAMS'),
      perUser: number('EVENT_STREAMS_PER_USER'),
      lifetimeMs: number('EVENT_STREAM_LIFETIME_S') * 1000,
      tickMs: number('EVENT_STREAM_TICK_MS'),
    },
    http: {
      maxJsonBytes: number('MAX_JSON_BYTES'),
      maxContentsBytes: number('MAX_CONTENTS_BYTES'),
      maxUploadBytes: number('MAX_UPLOAD_BYTES'),
      requestTimeoutMs: number('REQUEST_TIMEOUT_S') * 1000,
      storeTimeoutMs: number('STORE_TIMEOUT_S') * 1000,
      publicUrl: given('PUBLIC_URL')?.replace(/\/+$/, '') ?? null,
      trustProxy: readTrustProxy(string('TRUST_PROXY')),
      redirectUriSchemes: readRedirectUriSchemes(string('REDIRECT_URI_SCHEMES')),
      publicUrlAliases: list(string('PUBLIC_URL_ALIASES')).map((one) => one.replace(/\/+$/, '')),
      consentLifeMs: number('CONSENT_LIFE_S') * 1000,
      connectPageLifeMs: number('CONNECT_PAGE_LIFE_S') * 1000,
      diagnosisTimeoutMs: number('DIAGNOSIS_TIMEOUT_MS'),
      corsOrigins: list(string('CORS_ORIGINS')),
      rateLimits: { perUser: number('RATE_LIMIT_USER'), perOrganization: number('RATE_LIMIT_ORGANIZATION') },
      maxConcurrentSearches: number('MAX_CONCURRENT_SEARCHES'),
      maxQueryCharacters: number('MAX_QUERY_CHARACTERS'),
      mcpMaxResultCharacters: number('MCP_MAX_RESULT_CHARACTERS'),
    },
  };
}

function providers(given: (name: string) => string | null): Omit<ProviderSettings, 'pace'> {
  try {
    return readProviders(given, (file) => readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError(`These settings can't be used:\n- ${(error as Error).message}`);
  }
}

/** Returns a key that an earlier `npm start` generated and stored in the data folder; null if there is none. */
function kept(dataDir: string, name: string): string | null {
  const file = path.join(dataDir, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}

function missing(name: string, hint: string): never {
  throw new ConfigError(
    `These settings can't be used:\n- ${name} is not set (${hint}; or use npm start, which generates one)`,
  );
}

/** Returns the environment of this process, for the command line; its tests pass their own. */
export const environment = (): NodeJS.ProcessEnv => process.env;

/** Placeholder for processes that neither encrypt nor sign. */
const NO_SECRETS = `none:${Buffer.alloc(32).toString('base64')}`;

/** Returns what a client of the API needs. It may run on another machine and needs no SECRET_KEY. */
export function apiSettings(env: NodeJS.ProcessEnv = process.env): {
  /** Null if the port is not known before the API listens. */
  readonly url: string | null;
  readonly apiKey: string | null;
} {
  const { publicUrl, apiKey } = loadConfig({ ...env, SECRET_KEY: env['SECRET_KEY'] || NO_SECRETS });
  return { url: publicUrl, apiKey };
}

/**
 * Stores an API key where `npm start` stores its own. Returns false if API_KEY is set in the environment, which takes
 * precedence.
 */
export function keepApiKey(key: string, env: NodeJS.ProcessEnv = process.env): boolean {
  if (env['API_KEY']) return false;
  const file = path.join(path.resolve(env['DATA_DIR'] || '.data'), 'api-key');
  writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return true;
}

/** Returns the settings of connectStore. @throws ConfigError that names missing settings */
export function storeSettings(config: Config) {
  return {
    mongodbUri: required(config.mongodbUri, 'MONGODB_URI'),
    qdrant: { ...config.qdrant, url: required(config.qdrant.url, 'QDRANT_URL') },
    files: config.files,
    textCacheBytes: config.textCacheBytes,
    secretKeys: config.secretKeys,
    eventsKeptDays: config.eventsKeptDays,
    ledgerLifeDays: config.ledgerLifeDays,
    maxQueuedFiles: config.maxQueuedFiles,
    schemaCheckMs: config.schemaCheckMs,
  };
}

/** Returns the value of a setting that a separate process requires. @throws ConfigError that names the setting */
export function required<T>(value: T | null, name: keyof typeof SETTINGS): T {
  if (value === null) {
    throw new ConfigError(`${name} is not set. Set it, or run npm start first: it starts the embedded engines.`);
  }
  return value;
}

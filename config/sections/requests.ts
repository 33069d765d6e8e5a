import { readRedirectUriSchemes, readTrustProxy } from '../../contract/httpSettings.js';
import { readOtlpHeaders } from '../../observability/tracing.js';
import type { Settings } from '../readSettings.js';
import type { Config } from '../types.js';

/** Returns the settings of the API's requests, pages and streams. */
export function requestSection(settings: Settings): Pick<Config, 'ops' | 'eventStreams' | 'http'> {
  return {
    ops: {
      sessionMs: settings.number('OPS_SESSION_S') * 1000,
      maxClients: settings.number('OPS_CLIENTS'),
      tickMs: settings.number('OPS_TICK_MS'),
    },
    eventStreams: {
      maxOpen: settings.number('EVENT_STREAMS'),
      perUser: settings.number('EVENT_STREAMS_PER_USER'),
      lifetimeMs: settings.number('EVENT_STREAM_LIFETIME_S') * 1000,
      tickMs: settings.number('EVENT_STREAM_TICK_MS'),
    },
    http: {
      maxJsonBytes: settings.number('MAX_JSON_BYTES'),
      maxContentsBytes: settings.number('MAX_CONTENTS_BYTES'),
      mcpMaxResultCharacters: settings.number('MCP_MAX_RESULT_CHARACTERS'),
      maxUploadBytes: settings.number('MAX_UPLOAD_BYTES'),
      requestTimeoutMs: settings.number('REQUEST_TIMEOUT_S') * 1000,
      storeTimeoutMs: settings.number('STORE_TIMEOUT_S') * 1000,
      publicUrl: settings.optionalAddress('PUBLIC_URL'),
      trustProxy: readTrustProxy(settings.string('TRUST_PROXY')),
      redirectUriSchemes: readRedirectUriSchemes(settings.string('REDIRECT_URI_SCHEMES')),
      publicUrlAliases: settings.list('PUBLIC_URL_ALIASES').map((alias) => alias.replace(/\/+$/, '')),
      consentLifeMs: settings.number('CONSENT_LIFE_S') * 1000,
      connectPageLifeMs: settings.number('CONNECT_PAGE_LIFE_S') * 1000,
      diagnosisTimeoutMs: settings.number('DIAGNOSIS_TIMEOUT_MS'),
      corsOrigins: settings.list('CORS_ORIGINS'),
      rateLimits: {
        perUser: settings.number('RATE_LIMIT_USER'),
        perOrganization: settings.number('RATE_LIMIT_ORGANIZATION'),
      },
      maxConcurrentSearches: settings.number('MAX_CONCURRENT_SEARCHES'),
      maxQueryCharacters: settings.number('MAX_QUERY_CHARACTERS'),
    },
  };
}

/** Returns the settings of metrics and traces. */
export function observabilitySection(settings: Settings): Pick<Config, 'metrics' | 'tracing'> {
  return {
    metrics: {
      token: settings.optional('METRICS_TOKEN'),
      port: settings.optionalNumber('METRICS_PORT'),
      workerPort: settings.optionalNumber('WORKER_METRICS_PORT'),
      host: settings.string('METRICS_HOST'),
    },
    tracing: {
      endpoint: settings.optionalAddress('OTEL_EXPORTER_OTLP_ENDPOINT'),
      headers: readOtlpHeaders(settings.optional('OTEL_EXPORTER_OTLP_HEADERS') ?? ''),
      ratio: settings.number('OTEL_TRACES_SAMPLER_ARG'),
    },
  };
}

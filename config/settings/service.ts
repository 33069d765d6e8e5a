/** The service itself: its addresses, logs, metrics, traces and keys. */
import Joi from 'joi';

import { readOtlpHeaders } from '../../observability/tracing.js';
import { parseSecretKeys } from '../secretKeys.js';
import { count, address, readBy, type Setting } from './rules.js';

export const SERVICE_SETTINGS = {
  PORT: { schema: count(8000, 0).max(65_535), about: 'Port of the API. 0 selects any free port.' },
  HOST: {
    schema: Joi.string().default('127.0.0.1'),
    about: 'Address on which the API listens; 0.0.0.0 accepts connections from other machines.',
  },
  PUBLIC_URL: {
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: 'URL at which clients reach the API. Default: http://HOST:PORT.',
  },
  PUBLIC_URL_ALIASES: {
    schema: Joi.string().allow('').default(''),
    about:
      'Additional URLs of this service, separated by commas. OAuth clients supplied by callers (ServiceNow) may redirect users to any of them.',
  },
  DATA_DIR: {
    schema: Joi.string().default('.data'),
    about: 'Folder for the embedded engines, stored files and generated keys.',
  },
  MIN_FREE_DISK_BYTES: {
    schema: Joi.number().integer().min(0).default(2_000_000_000),
    about:
      'Free bytes on the disk of DATA_DIR or FILE_STORAGE_DIR below which /ready reports `degraded`, `npm run cli -- doctor` warns and the alert AllotropeDiskLow (deploy/alerts.yml) fires. 0: never.',
  },
  LOG_LEVEL: {
    schema: Joi.string().valid('silent', 'error', 'warn', 'info', 'debug').default('info'),
    about: 'Minimum log level. Logs are JSON lines on standard output.',
  },
  METRICS_PORT: {
    schema: Joi.number().integer().min(0).max(65_535),
    about:
      'Separate port on which an API process serves GET /metrics; 0 selects any free port and logs it. Default: no metrics port.',
  },
  WORKER_METRICS_PORT: {
    schema: Joi.number().integer().min(0).max(65_535),
    about: 'Port on which a worker serves GET /metrics. Each process of a machine needs its own port.',
  },
  METRICS_HOST: {
    schema: Joi.string().default('127.0.0.1'),
    about:
      'Address of the metrics ports. If other machines can reach it, set METRICS_TOKEN: by default, no token is required.',
  },
  METRICS_TOKEN: {
    schema: Joi.string().min(16),
    about: 'Bearer token for GET /metrics of this deployment. Default: no token is required.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: address(),
    about: 'Endpoint for traces (OTLP over HTTP), without `/v1/traces`: `http://collector:4318`. Default: no traces.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: Joi.string().custom(readBy(readOtlpHeaders)),
    about: 'Headers of trace exports, `name=value`, separated by commas, values URL-encoded. Secret.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: Joi.number().min(0).max(1).default(1),
    about: 'Share of traces that is sampled. A trace is sampled completely or not at all.',
  },
  API_KEY: {
    schema: Joi.string().min(16),
    about: 'API key of organization 1. Default: generated, printed once and stored in DATA_DIR/api-key.',
  },
  SECRET_KEY: {
    schema: Joi.string().custom(readBy(parseSecretKeys)),
    about:
      'Keys that encrypt secrets and sign tokens: `id:base64 of 32 bytes`, separated by commas. The first key encrypts, all decrypt. Default with embedded engines: generated and stored in DATA_DIR/secret-key.',
  },
} as const satisfies Record<string, Setting>;

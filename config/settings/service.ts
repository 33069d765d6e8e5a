/** The service itself: its addresses, logs, metrics, traces and keys. */
import Joi from 'joi';

import { readOtlpHeaders } from '../../observability/tracing.js';
import { count, address, readBy, type Setting } from './rules.js';

export const SERVICE_SETTINGS = {
  PORT: { schema: count(8000, 0), about: 'Port of the API. 0 takes any free one.' },
  HOST: {
    schema: Joi.string().default('127.0.0.1'),
    about: 'Address the API listens on; 0.0.0.0 to be reached from outside.',
  },
  PUBLIC_URL: {
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: 'Address under which clients reach the API. Unset: http://HOST:PORT.',
  },
  PUBLIC_URL_ALIASES: {
    schema: Joi.string().allow('').default(''),
    about:
      'Further addresses under which this service is reached, by comma: a client that a caller brings (ServiceNow) may send people back to any of them.',
  },
  DATA_DIR: {
    schema: Joi.string().default('.data'),
    about: 'Where the embedded engines, stored files and made keys are kept.',
  },
  MIN_FREE_DISK_BYTES: {
    schema: Joi.number().integer().min(0).default(2_000_000_000),
    about:
      'Free bytes below which a disk of DATA_DIR or FILE_STORAGE_DIR makes /ready degraded, doctor warn and the alert fire; 0: never.',
  },
  LOG_LEVEL: {
    schema: Joi.string().valid('silent', 'error', 'warn', 'info', 'debug').default('info'),
    about: 'Least level that is logged. Logs are JSON lines on standard output.',
  },
  METRICS_PORT: {
    schema: Joi.number().integer().min(0).max(65_535),
    about:
      'Port, beside its own, on which an API serves GET /metrics; 0 takes any free one, which the log names. Unset: none.',
  },
  WORKER_METRICS_PORT: {
    schema: Joi.number().integer().min(0).max(65_535),
    about: 'The same of a worker; each process of one machine needs a port of its own.',
  },
  METRICS_HOST: {
    schema: Joi.string().default('127.0.0.1'),
    about: 'Address those ports are on. Set METRICS_TOKEN where others reach them: without one they ask for none.',
  },
  METRICS_TOKEN: {
    schema: Joi.string().min(16),
    about: 'Bearer token for GET /metrics, of this deployment and no organization. Unset: none is asked for.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: address(),
    about:
      'Where traces are sent by OTLP over HTTP, `/v1/traces` of it: `http://collector:4318`. Unset: there are none.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: Joi.string().custom(readBy(readOtlpHeaders)),
    about: 'Headers that are sent along, `name=value`, by comma, values encoded as in addresses. Secret.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: Joi.number().min(0).max(1).default(1),
    about: 'The part of all traces that is kept; a trace is kept as a whole or not at all.',
  },
  API_KEY: {
    schema: Joi.string().min(16),
    about: 'API key of organization 1. Unset: one is made, printed once and kept in DATA_DIR/api-key.',
  },
  SECRET_KEY: {
    schema: Joi.string(),
    about:
      'Keys that encrypt secrets and sign tokens: `id:base64 of 32 bytes`, several by comma; the first encrypts, all decrypt. Unset with embedded engines: one is made and kept in DATA_DIR/secret-key.',
  },
} as const satisfies Record<string, Setting>;

/** Every setting of the service, one row each: its schema, its default, and what it does. Read by config.ts alone. */
import Joi from 'joi';

import { TASK_QUEUE } from './contract/orchestration.js';

interface Setting {
  readonly schema: Joi.Schema;
  /** What it does, for docs/settings.md. */
  readonly about: string;
}

const text = () => Joi.string().allow('');
const count = (fallback: number, min = 1) => Joi.number().integer().min(min).default(fallback);

function isProxyAddress(address: string): boolean {
  try {
    const { protocol, username, password } = new URL(address);
    // Throws too where they are not escaped as a URL has them: a percent sign of a password must be %25.
    decodeURIComponent(username + password);
    return protocol === 'http:';
  } catch {
    return false;
  }
}

/** Says nothing of the value, which holds credentials. */
function proxyAddresses(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const addresses = value.split(',').map((part) => part.trim());
  return addresses.every((address) => address === '' || isProxyAddress(address))
    ? value
    : helpers.message({ custom: '{{#label}} takes addresses like http://user:password@host:port, by comma' });
}

export const SETTINGS = {
  PORT: { schema: count(8000, 0), about: 'Port of the API. 0 takes any free one.' },
  HOST: {
    schema: Joi.string().default('127.0.0.1'),
    about: 'Address the API listens on; 0.0.0.0 to be reached from outside.',
  },
  PUBLIC_URL: {
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: 'Address under which clients reach the API. Unset: http://HOST:PORT.',
  },
  DATA_DIR: {
    schema: Joi.string().default('.data'),
    about: 'Where the embedded engines, stored files and made keys are kept.',
  },
  LOG_LEVEL: {
    schema: Joi.string().valid('silent', 'error', 'warn', 'info', 'debug').default('info'),
    about: 'Least level that is logged. Logs are JSON lines on standard output.',
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
  TEMPORAL_ADDRESS: { schema: Joi.string(), about: 'host:port of Temporal. Unset: embedded.' },
  TEMPORAL_NAMESPACE: { schema: Joi.string().default('default'), about: 'Temporal namespace.' },
  TEMPORAL_UI_URL: {
    schema: Joi.string().uri(),
    about: "Address of Temporal's Web UI, for links. Unset: that of the embedded one.",
  },
  TASK_QUEUE: { schema: Joi.string().default(TASK_QUEUE), about: 'Task queue that API and workers share.' },
  MONGODB_URI: {
    schema: Joi.string().uri({ scheme: ['mongodb', 'mongodb+srv'] }),
    about: 'MongoDB, a replica set (transactions are used). Unset: embedded.',
  },
  QDRANT_URL: { schema: Joi.string().uri({ scheme: ['http', 'https'] }), about: 'Qdrant. Unset: the embedded engine.' },
  QDRANT_COLLECTION_PREFIX: {
    schema: Joi.string()
      .pattern(/^[\w.-]+$/)
      .default('allotrope-'),
    about: 'What our collections begin with, so that several deployments can share one Qdrant.',
  },
  QDRANT_API_KEY: { schema: text(), about: 'API key of Qdrant, where it has one.' },
  FILE_STORAGE_DIR: {
    schema: Joi.string(),
    about: 'Folder for large contents; API and workers must share it. Unset: DATA_DIR/files.',
  },
  S3_BUCKET: {
    schema: Joi.string(),
    about: 'Keep large contents in this bucket of an S3-compatible store instead of a folder.',
  },
  CONTENT_ROW_BYTES: {
    schema: Joi.number().integer().min(0).max(4_000_000).default(262_144),
    about: 'Contents up to so many bytes are kept in MongoDB, where writing them is cheap; 0: all in file storage.',
  },
  S3_ENDPOINT: {
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: 'Address of the S3-compatible store; unset: AWS.',
  },
  S3_REGION: { schema: Joi.string().default('us-east-1'), about: 'Region of the bucket.' },
  S3_ACCESS_KEY_ID: { schema: Joi.string(), about: 'Credential of the bucket.' },
  S3_SECRET_ACCESS_KEY: { schema: Joi.string(), about: 'Credential of the bucket.' },
  ALLOWED_PRIVATE_HOSTS: {
    schema: text().default(''),
    about:
      'Exceptions of the address guard by comma: host, host:port or CIDR. Link-local and metadata addresses are never allowed.',
  },
  ALLOWED_PORTS: { schema: text().default(''), about: 'Ports that outgoing requests may use, by comma; empty: any.' },
  PREMIUM_PROXY_URLS: {
    schema: text().default('').custom(proxyAddresses),
    about:
      'HTTP proxies by comma, `http://user:password@host:port`, used in turn for pages that ask for use_premium_proxies and are refused to the service itself. Their own addresses are not guarded.',
  },
  USER_AGENT: {
    schema: Joi.string().default('Allotrope/0.1 (+self-hosted content ingestion)'),
    about: 'How the service names itself to sites.',
  },
  CONNECT_TIMEOUT_MS: { schema: count(10_000), about: 'Time to connect to a site.' },
  HEADERS_TIMEOUT_MS: { schema: count(20_000), about: 'Time from a request to its headers.' },
  BODY_TIMEOUT_MS: { schema: count(15_000), about: 'Silence allowed inside a body.' },
  MAX_REDIRECTS: { schema: count(5, 0), about: 'Redirects followed at most.' },
  CONNECTIONS_PER_HOST: { schema: count(8), about: 'Requests to one host at once, over all workers.' },
  MAX_PAGE_BYTES: { schema: count(20_000_000), about: 'Bytes of a page at most, decompressed.' },
  PAGE_TIMEOUT_MS: { schema: count(30_000), about: 'Time for one page, redirects and body included.' },
  SITEMAP_MAX_BYTES: { schema: count(50_000_000), about: 'Bytes of one sitemap file at most, decompressed.' },
  SITEMAP_MAX_FILES: { schema: count(500), about: 'Sitemap files read for one scrape at most.' },
  SITEMAP_MAX_DEPTH: { schema: count(3), about: 'How deep sitemap index files may name others.' },
  MAX_PAGES_PER_SCRAPE: { schema: count(50_000), about: "The server's own cap of pages of one scrape." },
  OBEY_ROBOTS: { schema: Joi.boolean().default(true), about: 'Whether robots.txt is obeyed.' },
  CHROMIUM_PATH: {
    schema: Joi.string(),
    about:
      "The browser that renders pages. Unset: Playwright's own, /usr/bin/chromium-headless-shell or /usr/bin/chromium, else one is installed.",
  },
  INSTALL_CHROMIUM: {
    schema: Joi.boolean().default(true),
    about:
      "Whether a worker that needs a browser and finds none installs one, once: by Playwright's installer, then, as root, by apt-get. Meanwhile, and without one, pages are fetched by plain HTTP.",
  },
  BROWSER_MAX_PAGES: { schema: count(100), about: 'Pages after which the browser is started anew.' },
  PARSE_THREADS: { schema: count(1), about: 'Threads of a worker that parse and chunk.' },
  PARSE_TIMEOUT_MS: { schema: count(60_000), about: 'Time to parse one document.' },
  PARSE_MEMORY_MB: { schema: count(512), about: 'Memory to parse one document.' },
  MAX_TEXT_CHARACTERS: { schema: count(20_000_000), about: 'Characters of extracted text at most.' },
  MAX_ELEMENT_DEPTH: { schema: count(512), about: 'Elements inside one another; deeper ones are flattened.' },
  MAX_ELEMENT_ATTRIBUTES: { schema: count(1000), about: 'Attributes of one element that are read.' },
  EMBEDDING_THREADS: {
    schema: count(2),
    about:
      'Texts that the embedded model embeds at once in a worker; each takes a process with one core and about 150 MB.',
  },
  EMBEDDING_MODEL_PATH: {
    schema: Joi.string(),
    about: 'ONNX file of the embedded model. Unset: the one that npm start prepares.',
  },
  EMBEDDING_TOKENIZER_PATH: { schema: Joi.string(), about: 'tokenizer.json of the embedded model.' },
  BATCH_CONCURRENCY: { schema: count(4), about: 'Batches of one run under way at once.' },
  FILE_CONCURRENCY: { schema: count(8), about: 'Files of one batch under way at once.' },
  WORKER_NICENESS: {
    schema: Joi.number().integer().min(0).max(19).default(10),
    about: 'How far a worker steps back for the API and the databases where they share cores, as nice(1) counts.',
  },
  ACTIVITY_CONCURRENCY: { schema: count(8), about: 'Activities that one worker runs at once.' },
  RETRY_DELAYS_S: {
    schema: Joi.string()
      .pattern(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/)
      .default('5,30,120'),
    about: 'Seconds before each new try of a file after a passing fault; their number is the number of new tries.',
  },
  WEBHOOK_TIMEOUT_MS: { schema: count(10_000), about: 'Time a webhook has to answer a delivery.' },
  WEBHOOK_RETRY_DELAYS_S: {
    schema: Joi.string()
      .pattern(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/)
      .default('5,300,1800,7200,18000,36000'),
    about:
      'Seconds before each new try of a delivery that failed; their number is the number of new tries, after which it is given up.',
  },
  WEBHOOK_CONNECTIONS_PER_HOST: {
    schema: count(64),
    about: 'Deliveries to one host at once by one worker, over all webhooks; one webhook has eight at most.',
  },
  EVENTS_KEPT_DAYS: { schema: count(7), about: 'Days that GET /events and the lists of deliveries go back.' },
  LIMIT_RECHECK_S: {
    schema: Joi.number().greater(0).default(30),
    about: 'Seconds after which a run whose files are held back by a limit of their user looks for room again.',
  },
  REAP_INTERVAL_S: {
    schema: count(15),
    about: 'Seconds between comparisons of records in motion with the state of their workflows.',
  },
  MAX_JSON_BYTES: { schema: count(5_000_000), about: 'Bytes of a JSON request at most.' },
  CORS_ORIGINS: { schema: text().default('*'), about: 'Origins that browsers may call from, by comma; * for any.' },
  RATE_LIMIT_USER: {
    schema: count(0, 0),
    about: 'Requests a minute of one end user, counted by each API process for itself; 0: no limit.',
  },
  RATE_LIMIT_ORGANIZATION: {
    schema: count(0, 0),
    about: 'Requests a minute of one organization with all its users, counted likewise; 0: no limit.',
  },
} as const satisfies Record<string, Setting>;

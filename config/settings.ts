/** Every setting of the service, one row each: its schema, its default, and what it does. Read by config/config.ts alone. */
import Joi from 'joi';

import { TASK_QUEUE } from '../contract/orchestration.js';
import { readOAuthClients } from '../connectors/oauth/clients.js';
import { readSourceUrls } from '../connectors/readSourceUrls.js';
import { readPrices } from '../providers/embeddings/readPrices.js';
import { readRedirectUriSchemes, readTrustProxy } from '../contract/httpSettings.js';
import { readDeployments } from '../providers/embeddings/readProviders.js';
import { readOtlpHeaders } from '../observability/tracing.js';
import { ON_DISK_PARTS, QUANTIZATIONS } from '../store/vectors/layout.js';
import { TRANSCRIPTION_SERVICES } from '../contract/uploads.js';

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

/** Of a provider. */
const address = () => Joi.string().uri({ scheme: ['http', 'https'] });

function deployments(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  try {
    readDeployments(value);
    return value;
  } catch (error) {
    return helpers.message({ custom: `{{#label}} ${(error as Error).message}` });
  }
}

/** What a reader of ours takes: it throws what is wrong. */
const readBy =
  (read: (value: string) => unknown) =>
  (value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport => {
    try {
      read(value);
      return value;
    } catch (error) {
      return helpers.message({ custom: `{{#label}} ${(error as Error).message}` });
    }
  };

function onDiskParts(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const known: readonly string[] = ON_DISK_PARTS;
  const unknown = value.split(',').find((part) => part.trim() !== '' && !known.includes(part.trim()));
  if (unknown === undefined) return value;
  return helpers.message({ custom: `{{#label}} takes ${known.join(', ')}, by comma, and no "${unknown.trim()}"` });
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
  TEMPORAL_ADDRESS: { schema: Joi.string(), about: 'host:port of Temporal. Unset: embedded.' },
  TEMPORAL_NAMESPACE: { schema: Joi.string().default('default'), about: 'Temporal namespace.' },
  TEMPORAL_UI_URL: {
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: "Address of Temporal's Web UI, for links. Unset: that of the embedded one.",
  },
  TASK_QUEUE: {
    schema: Joi.string().default(TASK_QUEUE),
    about: 'First part of the task queue names; the deployment id follows.',
  },
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
  QDRANT_SHARDS: {
    schema: count(1),
    about:
      'Shards of a collection, for a cluster. It and the four below hold for collections that are made from then on; the embedded engine takes no notice of them.',
  },
  QDRANT_REPLICAS: { schema: count(1), about: 'Copies of each shard, on as many nodes of a cluster.' },
  QDRANT_WRITE_CONSISTENCY: {
    schema: Joi.number().integer().min(1).max(Joi.ref('QDRANT_REPLICAS')).default(1).messages({
      'number.max': '{{#label}} must be less than or equal to QDRANT_REPLICAS: a write waits for copies that there are',
    }),
    about: 'Copies that a write must have reached before it counts; QDRANT_REPLICAS at most.',
  },
  QDRANT_QUANTIZATION: {
    schema: Joi.string()
      .valid(...QUANTIZATIONS)
      .default('none'),
    about:
      '`scalar` (a byte a number) or `binary` (a bit a number, for vectors of 1,024 numbers and more) searches smaller vectors in memory first, then the true ones. `none`: only these.',
  },
  QDRANT_ON_DISK: {
    schema: Joi.string().allow('').default('').custom(onDiskParts),
    about:
      'What Qdrant reads from disk as it is needed, by comma: `vectors`, `payload`, `hnsw` (the graph), `sparse` (the index of terms). What is not named is as Qdrant has it.',
  },
  QDRANT_WRITE_BYTES: {
    schema: Joi.number().integer().min(1_000_000).max(32_000_000).default(16_000_000),
    about: 'Bytes of one request that writes points; Qdrant takes up to 32 MB. A single point may be longer.',
  },
  QDRANT_WRITES_AT_ONCE: { schema: count(4), about: 'Requests of one process that write points at once.' },
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
  TEXT_CACHE_BYTES: {
    schema: Joi.number().integer().min(0).default(32_000_000),
    about:
      'Memory of an API process for texts of chunks that searches found, which the next search need not read; 0: none.',
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
  PARSE_THREADS: { schema: count(1), about: 'Threads of a worker that parse and chunk pages of sites.' },
  PARSE_TIMEOUT_MS: { schema: count(60_000), about: 'Time to parse one page.' },
  PARSE_MEMORY_MB: { schema: count(512), about: 'Memory to parse one page.' },
  PARSE_PROCESSES: {
    schema: count(1),
    about: 'Processes of a worker that parse and chunk uploaded files. They start with the first file.',
  },
  PARSE_FILE_TIMEOUT_MS: { schema: count(120_000), about: 'Time to parse one file. Others may wait for it.' },
  PARSE_FILE_MEMORY_MB: {
    schema: count(1536),
    about: 'Memory to parse one file: past it the process that reads it is ended, and the file with it.',
  },
  OCR_LANGUAGES: {
    schema: Joi.string()
      .pattern(/^[a-zA-Z_]+(\s*,\s*[a-zA-Z_]+)*$/)
      .default('eng'),
    about:
      'Languages that use_ocr recognizes, the most likely first, by comma: codes of Tesseract such as `eng,deu`, each of an installed package `@tesseract.js-data/<code>`. English comes along; each more costs time.',
  },
  OCR_PROCESSES: {
    schema: count(1),
    about:
      'Pages that a worker recognizes at once, each in a process of its own. They start with the first page and step back for everything else.',
  },
  OCR_CONCURRENCY: {
    schema: count(4),
    about:
      'Files that a worker has in OCR at once: their pages take turns, so that a short file does not wait for a long one. Other files never wait for them.',
  },
  OCR_PAGE_TIMEOUT_MS: { schema: count(120_000), about: 'Time to recognize one page.' },
  OCR_MEMORY_MB: {
    schema: count(1536),
    about: 'Memory to recognize one page: past it its process is ended, and the file with it.',
  },
  MAX_OCR_PAGES: { schema: count(500), about: 'Pages of one file at most that are recognized.' },
  MAX_OCR_PIXELS: { schema: count(100_000_000), about: 'Pixels of a picture at most that is recognized.' },
  // A string of V8 has 536 million characters at most, which no setting may reach.
  MAX_TEXT_CHARACTERS: {
    schema: count(400_000_000).max(500_000_000),
    about:
      'Characters of extracted text at most; a table has more of them than its file, for each row names its columns.',
  },
  MAX_ELEMENT_DEPTH: {
    schema: count(512),
    about:
      'Elements inside one another at most, of an Office file, an RTF file or JSON. Of HTML those that are deeper are flattened.',
  },
  MAX_DOCUMENT_BYTES: { schema: count(200_000_000), about: 'Bytes of a file at most that is read as text.' },
  MAX_ARCHIVE_ENTRIES: { schema: count(10_000), about: 'Members of an Office file at most; it is a ZIP archive.' },
  MAX_UNPACKED_BYTES: {
    schema: count(500_000_000),
    about: "Bytes at most that an Office file's members unpack to. Those of a PDF are bounded by PARSE_FILE_MEMORY_MB.",
  },
  MAX_UNPACK_RATIO: {
    schema: count(200),
    about: 'Bytes at most that one packed byte may become, in a member of more than a megabyte.',
  },
  MAX_DOCUMENT_PAGES: { schema: count(5000), about: 'Pages of a PDF, or slides of a presentation, at most.' },
  MAX_TABLE_CELLS: { schema: count(50_000_000), about: 'Cells of a table, or values of a JSON file, at most.' },
  MAX_ATTACHMENTS: { schema: count(100), about: 'Attachments of one message at most.' },
  MAX_ELEMENT_ATTRIBUTES: {
    schema: count(1000),
    about: 'Attributes of one element at most, of an Office file. Of HTML further ones are not read.',
  },
  MAX_HTML_DEPTH: {
    schema: count(50_000),
    about:
      'Elements of HTML open inside one another at most. Sloppy pages leave thousands open, hostile ones hundreds of thousands.',
  },
  MAX_HTML_ATTRIBUTES: { schema: count(10_000), about: 'Attributes of one element of HTML at most.' },
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
  OPENAI_API_KEY: {
    schema: Joi.string(),
    about:
      'Key of OpenAI. With it OPENAI and the OPENAI_ADA_ model ids are served by OpenAI, and texts are sent there; without, as with the other providers, by the embedded model.',
  },
  OPENAI_BASE_URL: {
    schema: address().default('https://api.openai.com/v1'),
    about: 'Address of OpenAI, or of a service that takes the same requests.',
  },
  AZURE_OPENAI_ENDPOINT: {
    schema: address(),
    about: 'Address of the Azure OpenAI resource, `https://NAME.openai.azure.com`. Serves the AZURE_ model ids.',
  },
  AZURE_OPENAI_API_KEY: { schema: Joi.string(), about: 'Key of the Azure OpenAI resource.' },
  AZURE_OPENAI_DEPLOYMENTS: {
    schema: Joi.string().custom(deployments),
    about:
      'Name of the deployment of each model id, `AZURE_OPENAI=name,AZURE_ADA_LARGE_256=name`, by comma: of text-embedding-3-small for AZURE_OPENAI and the SMALL ids, of text-embedding-3-large for the LARGE ids. Ids that are not named are served by the embedded model.',
  },
  AZURE_OPENAI_API_VERSION: {
    schema: Joi.string()
      .pattern(/^[\w.-]+$/)
      .default('2024-10-21'),
    about: 'Version of the API of Azure OpenAI.',
  },
  COHERE_API_KEY: {
    schema: Joi.string(),
    about: 'Key of Cohere. Serves COHERE_MULTILINGUAL_V3, and COHERE_RERANK_MULTILINGUAL_V3.',
  },
  COHERE_BASE_URL: { schema: address().default('https://api.cohere.com/v2'), about: 'Address of Cohere.' },
  VERTEX_PROJECT: { schema: Joi.string(), about: 'Google Cloud project. Serves VERTEX_MULTIMODAL.' },
  VERTEX_LOCATION: {
    schema: Joi.string()
      .pattern(/^[a-z\d-]+$/)
      .default('us-central1'),
    about: 'Location of Vertex AI.',
  },
  VERTEX_CREDENTIALS: {
    schema: Joi.string(),
    about: 'Key of a service account that may use Vertex AI: the path of its JSON file, or the JSON itself.',
  },
  VERTEX_ACCESS_TOKEN: {
    schema: Joi.string(),
    about: 'An access token for Vertex AI instead of a key, used until it is refused. For trials: it lasts an hour.',
  },
  VERTEX_BASE_URL: { schema: address(), about: 'Address of Vertex AI with its version. Unset: that of the location.' },
  SOLAR_API_KEY: { schema: Joi.string(), about: 'Key of Upstage. Serves SOLAR_1_MINI.' },
  SOLAR_BASE_URL: { schema: address().default('https://api.upstage.ai/v1'), about: 'Address of Upstage.' },
  EMBEDDING_MIN_CONCURRENCY: {
    schema: count(1),
    about: 'Requests that a worker has under way with one key of a provider, however often it refuses with 429.',
  },
  EMBEDDING_MAX_CONCURRENCY: {
    schema: count(16),
    about: 'Requests that a worker has under way with one key at most. Between the two it finds out what is borne.',
  },
  EMBEDDING_TRIES: {
    schema: count(4),
    about: 'Times a request to a provider is sent before its files go back into the queue. 429 does not count.',
  },
  EMBEDDING_TIMEOUT_MS: { schema: count(60_000), about: 'Time a provider has for one request.' },
  EMBEDDING_PATIENCE_MS: {
    schema: count(120_000, 0),
    about:
      'How long texts wait in one try while a provider refuses with 429; then their files go back into the queue as RATE_LIMITED. A search waits 5 seconds.',
  },
  EMBEDDING_PRICES: {
    schema: Joi.string().custom(readBy(readPrices)),
    about:
      'Price of a million tokens of each model id, `OPENAI=0.02,COHERE_MULTILINGUAL_V3=0.1`, by comma: what POST /files/reembed, requests with dry_run and metrics reckon with. Ids that are not named have no price.',
  },
  SOURCE_URLS: {
    schema: text().custom(readBy(readSourceUrls)).default(''),
    about:
      'Other addresses of connected sources, `GITBOOK.api=https://gitbook.example/v1`, by comma: a proxy of yours, or a stand-in for tests.',
  },
  OAUTH_CLIENTS: {
    schema: text().custom(readBy(readOAuthClients)).default(''),
    about:
      "The deployment's own OAuth clients, `GOOGLE_DRIVE=id:secret,SLACK=id:secret`, by comma (a comma in a secret is `%2C`). Each is registered at its provider with the redirect address PUBLIC_URL/integrations/…, as docs/operations.md lists them. An organization's white label goes before it.",
  },
  SOURCE_PATIENCE_MS: {
    schema: count(30_000),
    about:
      'How long a request to a connected source waits where that asks to come later; a longer wait puts its file into RATE_LIMITED until then.',
  },
  CONSENT_LIFE_S: {
    schema: count(1_800),
    about: 'Seconds a person may take from the address that /integrations/oauth_url answers to their consent.',
  },
  CONNECT_PAGE_LIFE_S: {
    schema: count(3_600),
    about: 'Seconds that the page at which items of a connected account are chosen can be opened.',
  },
  DIAGNOSIS_TIMEOUT_MS: {
    schema: count(15_000),
    about: 'Time that the diagnosis of a data source has to ask its source; its caller waits.',
  },
  OPS_SESSION_S: {
    schema: count(3_600),
    about: 'Seconds that a browser stays signed in at /ops; opening the page goes on with it.',
  },
  OPS_CLIENTS: {
    schema: count(50),
    about: 'Browsers at most that one API process keeps up to date at /ops; others see it as of when they opened it.',
  },
  OPS_TICK_MS: {
    schema: count(2_000, 200),
    about:
      'Time between two looks at what /ops shows, one for all who look at an organization; none while nobody does.',
  },
  JINA_API_KEY: { schema: Joi.string(), about: 'Key of Jina. Serves JINA_RERANKER_MULTILINGUAL_V2.' },
  JINA_BASE_URL: {
    schema: address().default('https://api.jina.ai/v1'),
    about: 'Address of Jina, or of a server of your own that takes the same requests to rerank.',
  },
  PONGO_API_KEY: { schema: Joi.string(), about: 'Key of Pongo. Serves PONGO_RERANKER.' },
  PONGO_BASE_URL: { schema: address().default('https://api.joinpongo.com/api/v1'), about: 'Address of Pongo.' },
  RERANK_TIMEOUT_MS: { schema: count(10_000), about: 'Time a reranker has for one search, whose caller waits.' },
  BRAVE_SEARCH_API_KEY: {
    schema: Joi.string(),
    about: 'Key of the Brave Search API. With it /search_urls asks there.',
  },
  BRAVE_SEARCH_BASE_URL: {
    schema: address().default('https://api.search.brave.com/res/v1'),
    about: 'Address of the Brave Search API.',
  },
  SEARXNG_BASE_URL: {
    schema: address(),
    about:
      'Address of a SearXNG of yours, which /search_urls asks where BRAVE_SEARCH_API_KEY is unset; its settings.yml names `json` among search.formats. One of your own network must be named in ALLOWED_PRIVATE_HOSTS.',
  },
  SUPADATA_API_KEY: {
    schema: Joi.string(),
    about: 'Key of Supadata. With it /fetch_youtube_transcript asks there.',
  },
  SUPADATA_BASE_URL: { schema: address().default('https://api.supadata.ai/v1'), about: 'Address of Supadata.' },
  INVIDIOUS_BASE_URL: {
    schema: address(),
    about:
      'Address of an Invidious of yours, which /fetch_youtube_transcript asks where SUPADATA_API_KEY is unset. One of your own network must be named in ALLOWED_PRIVATE_HOSTS.',
  },
  LOOKUP_TIMEOUT_MS: {
    schema: count(20_000),
    about: 'Time that a search of the web, or a transcript, has; its caller waits.',
  },
  TRANSCRIPTION_SERVICE: {
    schema: Joi.string().valid(...TRANSCRIPTION_SERVICES),
    about:
      'Service that transcribes sound and video where a file names none. Unset: deepgram where it has a key, else assemblyai.',
  },
  TRANSCRIPTION_CONCURRENCY: {
    schema: count(8),
    about: 'Recordings that one worker has transcribed at once; other files never wait for them.',
  },
  TRANSCRIPTION_TIMEOUT_S: {
    schema: count(3600),
    about: 'Time for one recording, its way to the service included.',
  },
  DEEPGRAM_API_KEY: { schema: Joi.string(), about: 'Key of Deepgram. Unset: it is not used.' },
  DEEPGRAM_BASE_URL: {
    schema: Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .default('https://api.deepgram.com'),
    about: 'Address of Deepgram; one of your own network must be named in ALLOWED_PRIVATE_HOSTS.',
  },
  DEEPGRAM_MODEL: { schema: Joi.string().default('nova-3'), about: 'Model that Deepgram transcribes with.' },
  ASSEMBLYAI_API_KEY: { schema: Joi.string(), about: 'Key of AssemblyAI. Unset: it is not used.' },
  ASSEMBLYAI_BASE_URL: {
    schema: Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .default('https://api.assemblyai.com'),
    about: 'Address of AssemblyAI, which has one in Europe too (https://api.eu.assemblyai.com).',
  },
  ASSEMBLYAI_MODEL: {
    schema: Joi.string().default('universal-3-5-pro,universal-2'),
    about: 'Models that AssemblyAI transcribes with, by comma: the first that knows the language.',
  },
  ASSEMBLYAI_POLL_S: {
    schema: Joi.number().greater(0).default(3),
    about: 'Seconds between two looks at a transcript that AssemblyAI is making.',
  },
  BATCH_CONCURRENCY: { schema: count(4), about: 'Batches of one run under way at once.' },
  WORKER_FILE_CONCURRENCY: {
    schema: count(64),
    about:
      'Files that one worker has under way at once, over all batches. Users take turns, and one user has three quarters of them at most.',
  },
  FILE_CONCURRENCY: { schema: count(8), about: 'Files of one batch under way at once.' },
  WORKER_NICENESS: {
    schema: Joi.number().integer().min(0).max(19).default(0),
    about:
      'Priority of a worker and of the embedded Temporal, as nice(1) counts: 0 is that of all programs, 19 the lowest. Above 0 other programs on the same processors can starve the work.',
  },
  COMPUTE_NICENESS: {
    schema: Joi.number().integer().min(0).max(19).default(5),
    about:
      'How far the processes of a worker that embed and that recognize text in pictures are behind the worker itself in priority, as nice(1) counts.',
  },
  STALL_AFTER_S: {
    schema: count(60),
    about:
      'Seconds without progress after which a run with due work is `stalled`, where Temporal, the heartbeats of the workers or the stores show a cause.',
  },
  ACTIVITY_CONCURRENCY: { schema: count(32), about: 'Activities that one worker runs at once.' },
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
  LEDGER_LIFE_DAYS: { schema: count(90), about: 'Days that runs which have ended, and what they did, are listed.' },
  LIMIT_RECHECK_S: {
    schema: Joi.number().greater(0).default(30),
    about: 'Seconds after which a run whose files are held back by a limit of their user looks for room again.',
  },
  DRY_RUN_SAMPLE_PAGES: {
    schema: count(12),
    about: 'Pages, or files of an account, that a request with dry_run reads to estimate the rest.',
  },
  DRY_RUN_TIMEOUT_S: {
    schema: count(25),
    about:
      'Seconds after which a request with dry_run answers with what it has seen; half of them are for finding what there is.',
  },
  PAUSED_RUN_DAYS: {
    schema: count(30),
    about:
      'Days that a run stands still at its max_tokens when nobody has it go on; then it ends, and its open files are SYNC_ABORTED.',
  },
  MAX_QUEUED_FILES: {
    schema: count(20_000, 0),
    about:
      'Files of one user that wait in the queue at most; further ones are DELAYED until there is room, but each run has some in it. 0: no bound.',
  },
  MASS_DELETE_PERCENT: {
    schema: count(30, 0).max(100),
    about:
      "Part of a connected source's files that may be missing from a listing before it counts as a fault of the source and nothing is deleted; up to 10 files may always. `npm run cli -- source approve-deletions ID` lets the next listing delete.",
  },
  QUARANTINE_DAYS: {
    schema: Joi.number().min(0).max(365).default(7),
    about:
      'Days that files which vanished at their source can be had back (`POST /quarantined_files/restore`); callers see them as deleted at once. 0: they are erased at once.',
  },
  QUARANTINE_SWEEP_INTERVAL_S: {
    schema: count(300),
    about: 'Seconds between looks for files whose time in quarantine is up.',
  },
  REAP_INTERVAL_S: {
    schema: count(15),
    about: 'Seconds between comparisons of records in motion with the state of their workflows.',
  },
  SCHEMA_CHECK_INTERVAL_S: {
    schema: count(10),
    about:
      'Seconds between reads of the stored version of the records. A process of an older version stops taking work when it reads a newer one; a migration waits twice as long before it begins.',
  },
  SCHEDULE_COMPARE_INTERVAL_S: {
    schema: count(600),
    about:
      'Seconds between comparisons of the schedules in Temporal with the records that are synced by themselves. Changes reach Temporal within seconds anyway.',
  },
  COLD_SWEEP_INTERVAL_S: {
    schema: count(300),
    about: 'Seconds between looks for vectors that were not used for their days and go into file storage.',
  },
  MAX_JSON_BYTES: { schema: count(5_000_000), about: 'Bytes of a JSON request at most.' },
  MAX_CONTENTS_BYTES: {
    schema: count(20_000_000),
    about: 'Bytes of a JSON request that carries contents at most: /upload_text, /upload_chunks_and_embeddings.',
  },
  MAX_UPLOAD_BYTES: {
    schema: count(1_000_000_000),
    about: 'Bytes of an uploaded file at most, also of one that is fetched from an address.',
  },
  TRUST_PROXY: {
    schema: text().default('').custom(readBy(readTrustProxy)),
    about:
      "Reverse proxies whose x-forwarded-for is believed, where the caller's address is counted or logged: their addresses and ranges by comma (`10.0.0.0/8`, also the words loopback, linklocal, uniquelocal), or how many of them a request passes. Unset: none.",
  },
  REDIRECT_URI_SCHEMES: {
    schema: text().default('').custom(readBy(readRedirectUriSchemes)),
    about:
      'Schemes of apps, by comma, that the redirect_uri of a white label may have besides http and https: `com.example.app`.',
  },
  REQUEST_TIMEOUT_S: { schema: count(3_600), about: 'Time a request has to come in whole.' },
  STORE_TIMEOUT_S: {
    schema: count(10),
    about:
      'Seconds after which a request that waits for MongoDB, Qdrant or file storage is answered 503 with Retry-After. Workers wait longer and retry.',
  },
  DOWNLOAD_TIMEOUT_MS: { schema: count(600_000), about: 'Time to fetch the file of /upload_file_from_url.' },
  CORS_ORIGINS: { schema: text().default('*'), about: 'Origins that browsers may call from, by comma; * for any.' },
  RATE_LIMIT_USER: {
    schema: count(0, 0),
    about: 'Requests a minute of one end user, counted by each API process for itself; 0: no limit.',
  },
  RATE_LIMIT_ORGANIZATION: {
    schema: count(0, 0),
    about: 'Requests a minute of one organization with all its users, counted likewise; 0: no limit.',
  },
  MAX_CONCURRENT_SEARCHES: {
    schema: count(32, 0),
    about:
      'Searches of one user that run at the same time, counted by each API process for itself; above it POST /embeddings answers 429 with Retry-After. 0: no limit.',
  },
  MAX_QUERY_CHARACTERS: {
    schema: count(32_000),
    about: 'Maximum length of the query of POST /embeddings, in characters; above it the answer is 422.',
  },
} as const satisfies Record<string, Setting>;

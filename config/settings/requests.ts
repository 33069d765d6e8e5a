/** Requests to the API: sizes, times and rates. */
import { readRedirectUriSchemes, readTrustProxy } from '../../contract/httpSettings.js';
import { text, count, readBy, type Setting } from './rules.js';

export const REQUESTS_SETTINGS = {
  MAX_JSON_BYTES: { schema: count(5_000_000), about: 'Maximum size in bytes of a JSON request.' },
  MAX_CONTENTS_BYTES: {
    schema: count(20_000_000),
    about: 'Maximum size in bytes of a JSON request with contents: /upload_text, /upload_chunks_and_embeddings.',
  },
  MAX_UPLOAD_BYTES: {
    schema: count(1_000_000_000),
    about: 'Maximum size in bytes of an uploaded file, also of one fetched from a URL.',
  },
  TRUST_PROXY: {
    schema: text().default('').custom(readBy(readTrustProxy)),
    about:
      'Reverse proxies whose x-forwarded-for is trusted for rate limits and logs: their addresses and ranges, separated by commas (`10.0.0.0/8`, also the words loopback, linklocal, uniquelocal), or how many of them a request passes. Unset: none.',
  },
  REDIRECT_URI_SCHEMES: {
    schema: text().default('').custom(readBy(readRedirectUriSchemes)),
    about:
      'App schemes, separated by commas, that the redirect_uri of a white label may use in addition to http and https: `com.example.app`.',
  },
  REQUEST_TIMEOUT_S: { schema: count(3_600), about: 'Time limit for receiving a complete request.' },
  STORE_TIMEOUT_S: {
    schema: count(10),
    about:
      'Seconds after which a request that waits for MongoDB, Qdrant or file storage fails with 503 and Retry-After. Workers wait longer and retry.',
  },
  DOWNLOAD_TIMEOUT_MS: { schema: count(600_000), about: 'Time limit for fetching the file of /upload_file_from_url.' },
  CORS_ORIGINS: {
    schema: text().default('*'),
    about: 'Allowed origins of browser requests (CORS), separated by commas; * allows all.',
  },
  RATE_LIMIT_USER: {
    schema: count(0, 0),
    about: 'Requests per minute and end user, counted per API process. 0: no limit.',
  },
  RATE_LIMIT_ORGANIZATION: {
    schema: count(0, 0),
    about: 'Requests per minute and organization including its users, counted per API process. 0: no limit.',
  },
  MAX_CONCURRENT_SEARCHES: {
    schema: count(32, 0),
    about:
      'Maximum number of concurrent searches per user, counted per API process. Above it POST /embeddings returns 429 with Retry-After. 0: no limit.',
  },
  EVENT_STREAMS: {
    schema: count(500),
    about:
      'Maximum number of event streams (GET /events/stream, GET /sync_runs/{sync_run_id}/events) that one API process has open. Above it they return 503 with Retry-After.',
  },
  EVENT_STREAMS_PER_USER: {
    schema: count(20),
    about:
      'Maximum number of open event streams per end user, and per organization for requests without a customer id, counted per API process. Above it they return 429 with Retry-After.',
  },
  EVENT_STREAM_LIFETIME_S: {
    schema: count(900),
    about: 'Seconds after which an event stream ends, so that the client reconnects with valid credentials.',
  },
  EVENT_STREAM_TICK_MS: {
    schema: count(1_000, 100),
    about:
      'Milliseconds between two reads of the store for event streams. All streams of an organization, or of a run, share one read; without streams there is none.',
  },
  MAX_QUERY_CHARACTERS: {
    schema: count(32_000),
    about: 'Maximum length of the query of POST /embeddings, in characters; longer ones are rejected with 422.',
  },
  MCP_MAX_RESULT_CHARACTERS: {
    schema: count(50_000, 5_000),
    about:
      'Maximum size of the result of one MCP tool call or resource read, in characters of JSON. Longer results are shortened and say how to get the remaining part.',
  },
} as const satisfies Record<string, Setting>;

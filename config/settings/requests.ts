/** Requests to the API: sizes, times and rates. */
import { readRedirectUriSchemes, readTrustProxy } from '../../contract/httpSettings.js';
import { text, count, readBy, type Setting } from './rules.js';

export const REQUESTS_SETTINGS = {
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

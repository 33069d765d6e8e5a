/** Bounds of what a JSON body may hold, so that reading and validating it takes less than 100 ms of the event loop. */
export interface JsonLimits {
  /** Nested containers. */
  readonly depth: number;
  /** Keys of one object. */
  readonly objectKeys: number;
  /** Keys of all objects. */
  readonly keys: number;
  /** Texts, literals, objects and arrays. */
  readonly values: number;
  readonly numbers: number;
}

/**
 * The longest lists of the interface have 50,000 texts (urls_to_scrape) and 10,000 objects of two keys (/integrations/files/sync).
 * Measured: 1 µs of validation a value, 8 µs a key of an object with free keys, 3 to 5 µs an unknown key.
 */
export const JSON_LIMITS: JsonLimits = {
  // The deepest that the interface knows, filters of mails, stays below 20.
  depth: 64,
  objectKeys: 1_000,
  keys: 25_000,
  values: 60_000,
  numbers: 60_000,
};

/** Chunks of one request at most: with a vector each they are larger than MAX_CONTENTS_BYTES. */
export const MAX_GIVEN_CHUNKS = 20_000;

/** Of a body with chunks: each is an object of three keys with a text, a number and an array of numbers, which is validated as a whole. */
export const CHUNK_LIMITS: JsonLimits = {
  ...JSON_LIMITS,
  keys: 3 * MAX_GIVEN_CHUNKS + 5_000,
  values: 4 * MAX_GIVEN_CHUNKS + 5_000,
  numbers: 3_000_000,
};

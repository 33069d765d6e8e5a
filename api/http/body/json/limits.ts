/** Limits of a JSON body, so that parsing and validation take less than 100 ms of the event loop. */
export interface JsonLimits {
  /** Maximum nesting. */
  readonly depth: number;
  /** Keys per object. */
  readonly objectKeys: number;
  /** Keys of all objects. */
  readonly keys: number;
  /** Texts, literals, objects and arrays. */
  readonly values: number;
  readonly numbers: number;
}

/**
 * The longest lists of the API have 50,000 texts (urls_to_scrape) and 10,000 objects with two keys
 * (/integrations/files/sync). Measured cost of validation: 1 µs per value, 8 µs per key of an object whose keys the
 * caller chooses (such as tags), 3 to 5 µs per key that the schema does not define.
 */
export const JSON_LIMITS: JsonLimits = {
  // The deepest bodies of the API, filters of e-mails, have fewer than 20 levels.
  depth: 64,
  objectKeys: 1_000,
  keys: 25_000,
  values: 60_000,
  numbers: 60_000,
};

/** Maximum number of chunks per request: with vectors, more would exceed MAX_CONTENTS_BYTES. */
export const MAX_GIVEN_CHUNKS = 20_000;

/**
 * Limits of a body with chunks. Each chunk is an object with three keys: a text, a number, and an array of numbers that
 * is validated as a whole.
 */
export const CHUNK_LIMITS: JsonLimits = {
  ...JSON_LIMITS,
  keys: 3 * MAX_GIVEN_CHUNKS + 5_000,
  values: 4 * MAX_GIVEN_CHUNKS + 5_000,
  numbers: 3_000_000,
};

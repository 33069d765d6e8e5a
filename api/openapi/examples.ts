import type { Json } from './types.js';

/** A request and its response, recorded from a test by `npm run docs:examples`. */
export interface Example {
  /** Values of the parameters in path and query, by name. */
  readonly parameters?: Json;
  /** Body of the request. */
  readonly request?: unknown;
  readonly response?: unknown;
}

/** Returns the examples of all operations by their operationId. */
export const readExamples = (): Readonly<Record<string, Example>> => ({});

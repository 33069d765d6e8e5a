import { readdirSync, readFileSync } from 'node:fs';

import type { Json } from './types.js';

/** A request and its response, recorded from a test by `npm run docs:examples`. */
export interface Example {
  /** Values of the parameters in path and query, by name. */
  readonly parameters?: Json;
  /** Body of the request. */
  readonly request?: unknown;
  readonly response?: unknown;
}

/** Examples by operationId. */
export type Examples = Readonly<Record<string, Example>>;

const FOLDER = new URL('examples/', import.meta.url);

/** Returns the examples of all operations. There is a file for each tag. */
export const readExamples = (): Examples =>
  Object.assign(
    {},
    ...readdirSync(FOLDER)
      .filter((name) => name.endsWith('.json'))
      .map((name) => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as Examples),
  ) as Examples;

import { createHash } from 'node:crypto';

import { nextTurn } from './json/nextTurn.js';

/** Number of bytes hashed per turn of the event loop: about a millisecond. */
const TURN_BYTES = 1_000_000;
const TEXT_SLICE = 250_000;

/**
 * Yields the parts of a value to hash. Types and lengths precede values, so that different values have different parts.
 */
function* parts(value: unknown): Generator<string | Float64Array> {
  if (typeof value === 'string') {
    yield `"${value.length}:`;
    for (let from = 0; from < value.length; from += TEXT_SLICE) yield value.slice(from, from + TEXT_SLICE);
  } else if (Array.isArray(value) && value.every((element) => typeof element === 'number')) {
    yield `#${value.length}:`;
    yield Float64Array.from(value as number[]);
  } else if (Array.isArray(value)) {
    yield `[${value.length}:`;
    for (const element of value) yield* parts(element);
  } else if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    yield `{${fields.length}:`;
    for (const [name, field] of fields) {
      yield* parts(name);
      yield* parts(field);
    }
  } else yield `${JSON.stringify(value)};`;
}

/**
 * Returns the SHA-256 of a JSON value, independent of the order of object keys. A large value takes several turns of
 * the event loop; `safe-stable-stringify` would build the whole text in one turn.
 */
export async function fingerprint(value: unknown): Promise<string> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const part of parts(value)) {
    // Not UTF-8, because a slice may end within a surrogate pair.
    if (typeof part === 'string') hash.update(part, 'utf16le');
    else hash.update(part);
    bytes += typeof part === 'string' ? 2 * part.length + 50 : part.byteLength + 200;
    if (bytes < TURN_BYTES) continue;
    bytes = 0;
    await nextTurn();
  }
  return hash.digest('base64');
}

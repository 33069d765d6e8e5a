import { Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

import { peek } from './peek.js';

/** The content codings that a request accepts and the decoder supports. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/**
 * Maximum number of nested codings. Each one multiplies the size to which a small body can grow, and real servers do
 * not use more.
 */
const MAX_CODINGS = 2;

/**
 * Returns the codings of a Content-Encoding header, the last applied first; null when one is unknown or there are too
 * many.
 */
export function codingsOf(header: string | undefined): string[] | null {
  const codings = (header ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
    .reverse();
  return codings.length <= MAX_CODINGS && codings.every((coding) => Object.hasOwn(DECODERS, coding)) ? codings : null;
}

/** Decodes one coding in pieces, so that a reader which stops early has decoded only the pieces it consumed. */
export async function* decode(source: AsyncIterable<Uint8Array>, coding: string): AsyncGenerator<Uint8Array, void> {
  const { head, all } = await peek(source, 1);
  // A response to HEAD, or a 204, may name a coding without having a body.
  if (head[0] === undefined) return;

  const decoder = DECODERS[coding]?.(head[0]);
  if (decoder === undefined) throw new Error(`Unknown content coding ${coding}`);
  // A failure on either side ends the loop below with the same error, so the promise's rejection is ignored.
  pipeline(Readable.from(all), decoder).catch(() => undefined);
  for await (const piece of decoder) yield piece as Uint8Array;
}

const DECODERS: Readonly<Record<string, (firstByte: number) => Duplex>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  // Some servers send raw deflate under this name. The low four bits of a zlib header are always 8.
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw()),
};

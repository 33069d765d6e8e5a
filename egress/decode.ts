import { Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

import { peek } from './peek.js';

/** The content codings that are asked for and understood. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** Codings upon codings multiply what a small body can grow to; nobody has a use for more. */
const MAX_CODINGS = 2;

/** The codings of a Content-Encoding header, the last applied first; null when one is unknown or there are too many. */
export function codingsOf(header: string | undefined): string[] | null {
  const codings = (header ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
    .reverse();
  return codings.length <= MAX_CODINGS && codings.every((coding) => coding in DECODERS) ? codings : null;
}

/** Undoes one coding, a piece at a time: whoever counts the pieces and stops has decoded no more than he took. */
export async function* decode(source: AsyncIterable<Uint8Array>, coding: string): AsyncGenerator<Uint8Array, void> {
  const { head, all } = await peek(source, 1);
  // An answer to HEAD, a 204: a coding is named and there is nothing to decode.
  if (head[0] === undefined) return;

  const decoder = DECODERS[coding]?.(head[0]);
  if (decoder === undefined) throw new Error(`Unknown content coding ${coding}`);
  // A failure on either side ends the loop below; the promise only repeats it.
  pipeline(Readable.from(all), decoder).catch(() => undefined);
  for await (const piece of decoder) yield piece as Uint8Array;
}

const DECODERS: Readonly<Record<string, (firstByte: number) => Duplex>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  // Some servers send bare deflate under this name; the zlib header's low four bits are always 8.
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw()),
};

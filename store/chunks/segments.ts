import { chunkKey, type Cut, type SegmentDoc, segmentId, type StoredChunk } from '../models/chunks.js';
import type { Tenant } from '../users/accept.js';

/** The parsed text of one file's generation, and its chunks. */
export interface ChunkedText extends Tenant {
  readonly fileId: number;
  readonly generation: number;
  /** A string, or a long text of which only parts are in memory. */
  readonly text: { readonly length: number; slice(start: number, end: number): string };
  readonly prefix: string;
  readonly cuts: readonly Cut[];
}

/**
 * Maximum chunks and characters of a row; a single longer chunk has a row of its own. Both keep a row far below
 * MongoDB's limit of 16 MB.
 */
const CUTS_PER_SEGMENT = 64;
const CHARACTERS_PER_SEGMENT = 500_000;

/** Returns the number of the row that usually contains a chunk. After very long chunks, it is in a later row. */
export const likelySegment = (chunkIndex: number): number => Math.floor(chunkIndex / CUTS_PER_SEGMENT);

/** Returns the end index (exclusive) of the row that begins at a cut. */
function rowEnd(cuts: readonly Cut[], from: number): number {
  const begin = cuts[from]?.start ?? 0;
  let to = from + 1;
  while (to < cuts.length && to - from < CUTS_PER_SEGMENT && (cuts[to]?.end ?? 0) - begin <= CHARACTERS_PER_SEGMENT)
    to += 1;
  return to;
}

/** Yields the rows of a text and its chunks. White space before, between and after chunks is stored too. */
export function* toSegments({ text, prefix, cuts, fileId, generation, ...tenant }: ChunkedText): Generator<SegmentDoc> {
  let rows = 0;
  for (let from = 0; from < cuts.length;) {
    const to = rowEnd(cuts, from);
    const offset = from === 0 ? 0 : (cuts[from]?.start ?? 0);
    const end = to === cuts.length ? text.length : Math.max(cuts[to - 1]?.end ?? 0, cuts[to]?.start ?? 0);
    yield {
      _id: segmentId(fileId, generation, rows++),
      ...tenant,
      fileId,
      generation,
      first: from,
      last: to - 1,
      offset,
      text: text.slice(offset, end),
      prefix,
      cuts: cuts.slice(from, to),
    };
    from = to;
  }
}

/** Returns the chunks of a row whose index is in [from, to). */
export function chunksOf(row: SegmentDoc, from = row.first, to = row.last + 1): StoredChunk[] {
  const { fileId, generation, first, offset, text, prefix } = row;
  return row.cuts
    .slice(Math.max(0, from - first), Math.max(0, to - first))
    .map(({ start, end, tokens, metadata }, nth) => {
      const chunkIndex = Math.max(from, first) + nth;
      return {
        key: chunkKey(fileId, generation, chunkIndex),
        fileId,
        generation,
        chunkIndex,
        text: prefix + text.slice(start - offset, end - offset),
        tokens,
        metadata: metadata ?? {},
      };
    });
}

/**
 * Yields the parsed text in parts. Text that two rows contain is yielded once.
 * @param rows consecutive rows of one generation, in order
 * @param offset offset of the first row in the text
 */
export async function* textOf(
  rows: AsyncIterable<SegmentDoc> | Iterable<SegmentDoc>,
  offset = 0,
): AsyncGenerator<string> {
  let length = offset;
  for await (const row of rows) {
    const part = row.text.slice(length - row.offset);
    length += part.length;
    yield part;
  }
}

import type { Connection, Model } from 'mongoose';
import { byDefault, json, number, type RecordOf, required, schemaOf, text } from '../database/record.js';

/** One chunk: its position in the parsed text (UTF-16 offsets, end exclusive) and its metadata. */
export interface Cut {
  start: number;
  end: number;
  /** cl100k tokens, the prefix included. */
  tokens: number;
  metadata?: Record<string, unknown>;
}

const SEGMENT = {
  /** fileId:generation:number, so that a second write of the same segment is the same row. */
  _id: text,
  organizationId: required(number),
  userId: required(number),
  fileId: required(number),
  generation: required(number),
  /** Chunk indexes of the first and the last cut. */
  first: required(number),
  last: required(number),
  /** Offset of `text` in the parsed text. */
  offset: required(number),
  text: byDefault(text, ''),
  /** Text that prepend_filename_to_chunks puts before each chunk; '' for none. */
  prefix: byDefault(text, ''),
  cuts: json<Cut[]>(),
};

/**
 * A range of a file's parsed text with the chunks that begin in it. One row for many chunks costs much less than a row
 * per chunk, and the parsed text is stored only once. A generation's segments are contiguous; if chunks overlap, so do
 * segments.
 */
export interface SegmentDoc extends RecordOf<typeof SEGMENT> {}

/** A chunk as readers receive it. */
export interface StoredChunk {
  /** fileId:generation:chunkIndex. */
  readonly key: string;
  readonly fileId: number;
  readonly generation: number;
  readonly chunkIndex: number;
  readonly text: string;
  /** cl100k tokens of the text. */
  readonly tokens: number;
  readonly metadata: Record<string, unknown>;
}

const segment = schemaOf<SegmentDoc>(SEGMENT, { keepEmpty: true });
// Segments of files, in their order.
segment.index({ organizationId: 1, userId: 1, fileId: 1, generation: 1, first: 1 });

export const segmentId = (fileId: number, generation: number, index: number): string =>
  `${fileId}:${generation}:${index}`;

export const chunkKey = (fileId: number, generation: number, chunkIndex: number): string =>
  `${fileId}:${generation}:${chunkIndex}`;

export function segmentModel(connection: Connection): Model<SegmentDoc> {
  return connection.model<SegmentDoc>('segments', segment, 'segments');
}

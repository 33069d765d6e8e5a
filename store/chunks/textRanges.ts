import type { Model } from 'mongoose';

import type { SegmentDoc } from '../models/chunks.js';
import type { Tenant } from '../users/accept.js';
import { textOf } from './segments.js';

/** The published text of a file. */
interface FileText extends Tenant {
  readonly fileId: number;
  readonly generation: number;
}

/** A range of a file's text in UTF-16 offsets; the end is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Reads parts of the parsed text of a file. */
export interface TextRanges {
  /**
   * Returns at most `length` UTF-16 units of the text, beginning at `offset`.
   * @returns null if the generation has no text at that offset
   */
  textFrom(file: FileText, offset: number, length: number): Promise<string | null>;
  /** Returns the range of the chunks that are on a page; null if the page has no chunk. */
  rangeOfPage(file: FileText, page: number): Promise<TextRange | null>;
  /** Returns the number of the last page with text; null if the chunks have no pages. */
  lastPage(file: FileText): Promise<number | null>;
}

/** The position of a chunk on the pages of its file, as in the metadata of the public interface. */
interface Pages {
  readonly pg_start?: number;
  readonly pg_end?: number;
}

const rowFilter = ({ organizationId, userId, fileId, generation }: FileText) => ({
  organizationId,
  userId,
  fileId,
  generation,
});

export function createTextRanges(segments: Model<SegmentDoc>): TextRanges {
  return {
    async textFrom(file, offset, length) {
      const precedingRows = { ...rowFilter(file), offset: { $lte: offset } };
      // The texts of two rows overlap if their chunks do. The last row that begins at or before the offset contains it.
      const row = await segments.findOne(precedingRows, { first: 1, offset: 1 }).sort({ first: -1 }).lean();
      if (row === null) return null;
      const rows = segments
        .find({ ...rowFilter(file), first: { $gte: row.first } })
        .sort({ first: 1 })
        .lean()
        .cursor({ batchSize: 2 });
      try {
        let [text, position] = ['', row.offset];
        for await (const part of textOf(rows, row.offset)) {
          text += part.slice(Math.max(0, offset - position));
          position += part.length;
          if (text.length >= length) break;
        }
        return text === '' ? null : text.slice(0, length);
      } finally {
        await rows.close();
      }
    },
    async rangeOfPage(file, page) {
      const onPage = { $elemMatch: { 'metadata.pg_start': { $lte: page }, 'metadata.pg_end': { $gte: page } } };
      const rows = await segments.find({ ...rowFilter(file), cuts: onPage }, { cuts: 1 }).lean();
      const cuts = rows
        .flatMap((row) => row.cuts)
        .filter(({ metadata = {} }) => {
          const { pg_start: from, pg_end: to } = metadata as Pages;
          return from !== undefined && to !== undefined && from <= page && page <= to;
        });
      if (cuts.length === 0) return null;
      return cuts.reduce(
        (range, { start, end }) => ({ start: Math.min(range.start, start), end: Math.max(range.end, end) }),
        { start: Infinity, end: 0 },
      );
    },
    async lastPage(file) {
      const row = await segments
        .findOne(rowFilter(file), { cuts: { $slice: -1 } })
        .sort({ first: -1 })
        .lean();
      return (row?.cuts[0]?.metadata as Pages | undefined)?.pg_end ?? null;
    },
  };
}

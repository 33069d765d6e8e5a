import type { Model, QueryFilter } from 'mongoose';

import type { FileContent, FileQueries } from '../files/queries.js';
import type { Tenant } from '../users/accept.js';
import { chunkKey, type SegmentDoc, segmentId, type StoredChunk } from '../models/chunks.js';
import { chunksOf, likelySegment, textOf } from './segments.js';
import type { TextCache } from './textCache.js';
import { createTextRanges, type TextRanges } from './textRanges.js';
import { readRows } from '../database/driver.js';

/** Maximum chunks per read from MongoDB, which bounds the memory of a page of any size. */
const CHUNKS_PER_READ = 250;

/** A range of one file's chunks: indexes from (inclusive) to (exclusive). */
interface ChunkRange {
  readonly file: FileContent;
  readonly from: number;
  readonly to: number;
}

interface Key {
  readonly fileId: number;
  readonly generation: number;
  readonly chunkIndex: number;
}

export interface ChunkRow extends StoredChunk {
  readonly vectorSpace: string | null;
}

export interface ChunkQueries extends TextRanges {
  /**
   * Streams the chunks of `files` in batches, in the order of the files. Skips `offset` chunks and returns at most
   * `limit`.
   */
  page(tenant: Tenant, files: AsyncIterable<FileContent>, offset: number, limit: number): AsyncIterable<ChunkRow[]>;
  /** Counts the chunks of every generation, published or not. A deletion calls it to check that no chunk remains. */
  countAll(tenant: Tenant): Promise<number>;
  /** Counts the chunks of the given files, of every generation. */
  countOf(tenant: Tenant, fileIds: readonly number[]): Promise<number>;
  /**
   * Returns chunks by file, generation and index, omitting missing chunks. The caller checks whether the generation is
   * published.
   */
  byKeys(tenant: Tenant, keys: readonly Key[]): Promise<StoredChunk[]>;
  /** Stores chunks of published generations in the cache, so that the next read can take them from memory. */
  cache(tenant: Tenant, chunks: readonly StoredChunk[]): void;
  /** Streams the parsed text of one generation in UTF-8, in batches; null if the generation has no text. */
  parsedText(
    owner: { organizationId: number; fileId: number },
    generation: number,
  ): Promise<AsyncIterable<Uint8Array> | null>;
}

/** Yields groups of chunk ranges. A group has at most CHUNKS_PER_READ chunks, of one or several files. */
async function* groupRanges(
  files: AsyncIterable<FileContent>,
  offset: number,
  limit: number,
): AsyncIterable<ChunkRange[]> {
  let skip = offset;
  let remaining = limit;
  let group: ChunkRange[] = [];
  let size = 0;
  for await (const file of files) {
    let from = Math.min(skip, file.numChunks);
    skip -= from;
    while (from < file.numChunks && remaining > 0) {
      const to = Math.min(file.numChunks, from + remaining, from + CHUNKS_PER_READ - size);
      group.push({ file, from, to });
      remaining -= to - from;
      size += to - from;
      from = to;
      if (size === CHUNKS_PER_READ) {
        yield group;
        [group, size] = [[], 0];
      }
    }
    if (remaining === 0) break;
  }
  if (group.length > 0) yield group;
}

async function* encoded(parts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) yield Buffer.from(part);
}

/** Returns the requested chunks of one row. */
const requestedChunks = (row: SegmentDoc, keys: readonly Key[]): StoredChunk[] =>
  keys
    .filter(({ fileId, generation, chunkIndex: at }) => {
      return fileId === row.fileId && generation === row.generation && row.first <= at && at <= row.last;
    })
    .flatMap(({ chunkIndex: at }) => chunksOf(row, at, at + 1));

export function createChunkQueries(
  segments: Model<SegmentDoc>,
  files: Pick<FileQueries, 'byIds'>,
  cache: TextCache,
): ChunkQueries {
  const readRanges = async (
    { organizationId, userId }: Tenant,
    group: readonly ChunkRange[],
  ): Promise<Map<number, SegmentDoc[]>> => {
    const $or = group.map(({ file, from, to }) => ({
      organizationId,
      userId,
      fileId: file._id,
      generation: file.generation,
      first: { $lt: to },
      last: { $gte: from },
    }));
    const rowsByFile = new Map<number, SegmentDoc[]>();
    for (const row of await segments.find({ $or }).sort({ fileId: 1, first: 1 }).lean()) {
      rowsByFile.set(row.fileId, [...(rowsByFile.get(row.fileId) ?? []), row]);
    }
    return rowsByFile;
  };

  const chunksIn = ({ file, from, to }: ChunkRange, rowsByFile: Map<number, SegmentDoc[]>): ChunkRow[] =>
    (rowsByFile.get(file._id) ?? [])
      .filter((row) => row.generation === file.generation)
      .flatMap((row) => chunksOf(row, from, to))
      .map((chunk) => ({ ...chunk, vectorSpace: file.vectorSpace }));

  /**
   * Reads the record and the chunks again. If chunks are missing, a new generation was published after the record was
   * read.
   */
  const readAgain = async (tenant: Tenant, range: ChunkRange): Promise<ChunkRow[]> => {
    const [file] = await files.byIds(tenant, [range.file._id]);
    if (!file) return [];
    const currentRange: ChunkRange = { file, from: range.from, to: Math.min(range.to, file.numChunks) };
    return chunksIn(currentRange, await readRanges(tenant, [currentRange]));
  };

  const count = async (query: Record<string, unknown>): Promise<number> => {
    const [row] = await segments.aggregate<{ chunks: number }>([
      { $match: query },
      { $group: { _id: null, chunks: { $sum: { $size: '$cuts' } } } },
    ]);
    return row?.chunks ?? 0;
  };

  return {
    ...createTextRanges(segments),
    async *page(tenant, contents, offset, limit) {
      for await (const group of groupRanges(contents, offset, limit)) {
        const rowsByFile = await readRanges(tenant, group);
        const parts = await Promise.all(
          group.map(async (range) => {
            const rows = chunksIn(range, rowsByFile);
            return rows.length === range.to - range.from ? rows : readAgain(tenant, range);
          }),
        );
        yield parts.flat();
      }
    },
    countOf: ({ organizationId, userId }, fileIds) => count({ organizationId, userId, fileId: { $in: [...fileIds] } }),
    countAll: ({ organizationId, userId }) => count({ organizationId, userId }),
    cache: cache.add,
    async byKeys({ organizationId, userId }, requested) {
      const found = new Map<string, StoredChunk>();
      const keys = requested.filter(({ fileId, generation, chunkIndex }) => {
        const chunk = cache.get({ organizationId, userId }, chunkKey(fileId, generation, chunkIndex));
        if (chunk) found.set(chunk.key, chunk);
        return !chunk;
      });
      const load = async (query: QueryFilter<SegmentDoc>): Promise<void> => {
        const rows = await readRows(
          segments,
          { organizationId, userId, ...query },
          { maxRows: keys.length, isLargeText: true },
        );
        for (const chunk of rows.flatMap((row) => requestedChunks(row, keys))) found.set(chunk.key, chunk);
      };
      const likelyIds = keys.map((key) => segmentId(key.fileId, key.generation, likelySegment(key.chunkIndex)));
      if (keys.length > 0) await load({ _id: { $in: [...new Set(likelyIds)] } });
      const missing = keys.filter((key) => !found.has(chunkKey(key.fileId, key.generation, key.chunkIndex)));
      if (missing.length > 0)
        await load({
          $or: missing.map(({ fileId, generation, chunkIndex }) => ({
            ...{ fileId, generation, first: { $lte: chunkIndex }, last: { $gte: chunkIndex } },
          })),
        });
      return [...found.values()];
    },
    async parsedText({ organizationId, fileId }, generation) {
      // The rows are found by their ids and not by their user, because a download by signed link names no user. The
      // rows of a generation are numbered without gaps, so the first missing row is the end.
      const row = (number: number): Promise<SegmentDoc | null> =>
        segments.findOne({ _id: segmentId(fileId, generation, number), organizationId }).lean();
      const first = await row(0);
      if (first === null) return null;
      async function* rows(): AsyncGenerator<SegmentDoc> {
        let next = first;
        for (let number = 1; next !== null; number += 1) {
          yield next;
          next = await row(number);
        }
      }
      return encoded(textOf(rows()));
    },
  };
}

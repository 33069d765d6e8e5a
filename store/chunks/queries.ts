import type { Model } from 'mongoose';

import type { FileContent, FileQueries } from '../files/queries.js';
import type { Tenant } from '../users/accept.js';
import { type ChunkDoc, chunkId } from './model.js';

/** Rows read from MongoDB at once, so that a page of any size takes bounded memory. */
const ROWS_PER_READ = 250;

/** A stretch of one file's chunks: indexes from (inclusive) to (exclusive). */
interface Stretch {
  readonly file: FileContent;
  readonly from: number;
  readonly to: number;
}

export interface ChunkRow extends ChunkDoc {
  readonly vectorSpace: string | null;
}

export interface ChunkQueries {
  /** The chunks of the given files, in their order, `offset` skipped, at most `limit`, some rows at a time. */
  page(tenant: Tenant, files: AsyncIterable<FileContent>, offset: number, limit: number): AsyncIterable<ChunkRow[]>;
  /** Rows of every generation, seen by readers or not: for checks that nothing is left behind. */
  countAll(tenant: Tenant): Promise<number>;
  /** The same for some files. */
  countOf(tenant: Tenant, fileIds: readonly number[]): Promise<number>;
  /** Chunks named by file, generation and index; missing ones are left out. */
  byKeys(
    tenant: Tenant,
    keys: readonly { fileId: number; generation: number; chunkIndex: number }[],
  ): Promise<ChunkDoc[]>;
}

/** Cuts the files' chunks into groups of stretches of at most ROWS_PER_READ rows each. */
async function* stretches(files: AsyncIterable<FileContent>, offset: number, limit: number): AsyncIterable<Stretch[]> {
  let skip = offset;
  let wanted = limit;
  let group: Stretch[] = [];
  let size = 0;
  for await (const file of files) {
    let from = Math.min(skip, file.numChunks);
    skip -= from;
    while (from < file.numChunks && wanted > 0) {
      const to = Math.min(file.numChunks, from + wanted, from + ROWS_PER_READ - size);
      group.push({ file, from, to });
      wanted -= to - from;
      size += to - from;
      from = to;
      if (size === ROWS_PER_READ) {
        yield group;
        [group, size] = [[], 0];
      }
    }
    if (wanted === 0) break;
  }
  if (group.length > 0) yield group;
}

export function createChunkQueries(chunks: Model<ChunkDoc>, files: Pick<FileQueries, 'byIds'>): ChunkQueries {
  const read = async (
    { organizationId, userId }: Tenant,
    group: readonly Stretch[],
  ): Promise<Map<string, ChunkDoc>> => {
    const $or = group.map(({ file, from, to }) => ({
      organizationId,
      userId,
      fileId: file._id,
      generation: file.generation,
      chunkIndex: { $gte: from, $lt: to },
    }));
    const rows = await chunks.find({ $or }).lean<ChunkDoc[]>();
    return new Map(rows.map((row) => [row._id, row]));
  };

  const rowsOf = ({ file, from, to }: Stretch, found: Map<string, ChunkDoc>): ChunkRow[] => {
    const rows: ChunkRow[] = [];
    for (let index = from; index < to; index += 1) {
      const row = found.get(chunkId(file._id, file.generation, index));
      if (row) rows.push({ ...row, vectorSpace: file.vectorSpace });
    }
    return rows;
  };

  /** A file whose rows are not all there was flipped after its record was read: read record and rows again. */
  const refreshed = async (tenant: Tenant, stretch: Stretch): Promise<ChunkRow[]> => {
    const [file] = await files.byIds(tenant, [stretch.file._id]);
    if (!file) return [];
    const again: Stretch = { file, from: stretch.from, to: Math.min(stretch.to, file.numChunks) };
    return rowsOf(again, await read(tenant, [again]));
  };

  return {
    async *page(tenant, contents, offset, limit) {
      for await (const group of stretches(contents, offset, limit)) {
        const found = await read(tenant, group);
        const parts = await Promise.all(
          group.map(async (stretch) => {
            const rows = rowsOf(stretch, found);
            return rows.length === stretch.to - stretch.from ? rows : refreshed(tenant, stretch);
          }),
        );
        yield parts.flat();
      }
    },
    countOf: ({ organizationId, userId }, fileIds) =>
      chunks.countDocuments({ organizationId, userId, fileId: { $in: [...fileIds] } }).exec(),
    countAll: ({ organizationId, userId }) => chunks.countDocuments({ organizationId, userId }).exec(),
    async byKeys({ organizationId, userId }, keys) {
      if (keys.length === 0) return [];
      const _id = { $in: keys.map(({ fileId, generation, chunkIndex }) => chunkId(fileId, generation, chunkIndex)) };
      return chunks.find({ _id, organizationId, userId }).lean<ChunkDoc[]>();
    },
  };
}

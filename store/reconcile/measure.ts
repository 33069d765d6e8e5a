import type { Model } from 'mongoose';

import { wantsSparseVectors } from '../../contract/files/ingestOptions.js';
import type { SegmentDoc } from '../models/chunks.js';
import type { ChunkQueries } from '../chunks/queries.js';
import { blobKey, type Blobs } from '../contents/blobs.js';
import { originalKey } from '../originals/originals.js';
import type { Tenant } from '../users/accept.js';
import type { IdRange, PointCensus, PointsCensus } from '../vectors/census.js';
import type { Models, RecordOfFile } from './records.js';

/** The chunks of one generation of a file. */
export interface ChunkCensus {
  readonly generation: number;
  readonly count: number;
  /** Whether their indexes are contiguous from 0. */
  readonly isWhole: boolean;
}

/** Stored data under the id of one file. */
export interface StoredOfFile {
  readonly chunks: ChunkCensus[];
  readonly points: PointCensus[];
  /** Generations whose content is stored in MongoDB. */
  readonly contents: number[];
  readonly originals: { readonly id: number; readonly isInMongoDB: boolean }[];
  pages: number;
  /** Number of chunks that lack a sparse vector although their text has terms. */
  withoutSparse: number;
}

export interface Measured {
  /** By file id; ids without stored data are absent. */
  readonly held: Map<number, StoredOfFile>;
  /** Sizes in bytes of referenced objects in file storage, by key; null for a missing one. */
  readonly stored: Map<string, number | null>;
  readonly points: number;
}

export interface MeasuredStores {
  readonly models: Models;
  readonly points: PointsCensus;
  readonly chunks: Pick<ChunkQueries, 'byKeys'>;
  readonly blobs: Pick<Blobs, 'size'>;
}

/** Concurrent reads of file storage. */
const READS_AT_ONCE = 16;

async function chunksOf(segments: Model<SegmentDoc>, match: object) {
  return segments.aggregate<{
    readonly _id: { readonly fileId: number; readonly generation: number };
    readonly cuts: number;
    readonly span: number;
    readonly first: number;
    readonly last: number;
  }>([
    { $match: match },
    {
      $group: {
        _id: { fileId: '$fileId', generation: '$generation' },
        cuts: { $sum: { $size: '$cuts' } },
        span: { $sum: { $add: [{ $subtract: ['$last', '$first'] }, 1] } },
        first: { $min: '$first' },
        last: { $max: '$last' },
      },
    },
  ]);
}

/** Returns the keys in file storage that a record references, except contents that are stored in MongoDB. */
function referencedKeys(file: RecordOfFile, held: StoredOfFile | undefined): string[] {
  const { organizationId, _id: fileId, generation, hasContent, embeddingStorageStatus, coldCopy } = file;
  const isInMongoDB = (id: number): boolean =>
    held?.originals.some((original) => original.id === id && original.isInMongoDB) === true;
  return [
    ...(hasContent && held?.contents.includes(generation) !== true
      ? [blobKey({ organizationId, fileId, generation })]
      : []),
    ...[file.original, file.callerChunks].flatMap((one) =>
      one && !isInMongoDB(one.id) ? [originalKey({ organizationId, _id: one.id })] : [],
    ),
    ...(embeddingStorageStatus === 'COLD_STORAGE' && coldCopy ? [coldCopy.key] : []),
  ];
}

/**
 * Measures the data in MongoDB and Qdrant under a range of a user's file ids, with or without records, and the objects
 * in file storage that the given records reference.
 */
export async function measure(
  { models, points, chunks, blobs }: MeasuredStores,
  { organizationId, userId }: Tenant,
  range: IdRange,
  records: readonly RecordOfFile[],
  hasTerms: (text: string) => boolean,
): Promise<Measured> {
  const tenant = { organizationId, userId };
  const fileId = { $gt: range.above, ...(range.upTo === null ? {} : { $lte: range.upTo }) };
  const match = { ...tenant, fileId };
  const [segments, contents, originals, pages, censuses] = await Promise.all([
    chunksOf(models.segments, match),
    models.contents.find(match, { fileId: 1, generation: 1 }).lean(),
    models.originals.aggregate<{ _id: number; fileId: number; isInMongoDB: boolean }>([
      { $match: match },
      { $project: { fileId: 1, isInMongoDB: { $ne: ['$bytes', null] } } },
    ]),
    models.recognizedPages.aggregate<{ _id: number; pages: number }>([
      { $match: match },
      { $group: { _id: '$fileId', pages: { $sum: 1 } } },
    ]),
    points.count(tenant, range),
  ]);
  const held = new Map<number, StoredOfFile>();
  const storedOf = (id: number): StoredOfFile => {
    const entry = held.get(id) ?? { chunks: [], points: [], contents: [], originals: [], pages: 0, withoutSparse: 0 };
    held.set(id, entry);
    return entry;
  };
  for (const { _id, cuts, span, first, last } of segments)
    storedOf(_id.fileId).chunks.push({
      generation: _id.generation,
      count: cuts,
      isWhole: first === 0 && last + 1 === cuts && span === cuts,
    });
  for (const row of contents) storedOf(row.fileId).contents.push(row.generation);
  for (const { _id: id, fileId: owner, isInMongoDB } of originals) storedOf(owner).originals.push({ id, isInMongoDB });
  for (const { _id, pages: number } of pages) storedOf(_id).pages = number;
  for (const census of censuses) storedOf(census.fileId).points.push(census);

  // Count the chunks without a sparse vector in files that should have sparse vectors.
  const sparse = new Map(
    records.flatMap((file) =>
      wantsSparseVectors(file.options) && (held.get(file._id)?.points.length ?? 0) > 0 ? [[file._id, file]] : [],
    ),
  );
  if (sparse.size > 0)
    for await (const batch of points.withoutSparse(tenant, [...sparse.keys()])) {
      const keys = batch.flatMap(({ fileId: id, chunkIndex }) => {
        const file = sparse.get(id);
        return file ? [{ fileId: id, generation: file.generation, chunkIndex }] : [];
      });
      for (const { fileId: id, text } of await chunks.byKeys(tenant, keys))
        if (hasTerms(text)) storedOf(id).withoutSparse += 1;
    }

  const stored = new Map<string, number | null>();
  const keys = records.flatMap((file) => referencedKeys(file, held.get(file._id)));
  for (let from = 0; from < keys.length; from += READS_AT_ONCE)
    await Promise.all(
      keys.slice(from, from + READS_AT_ONCE).map(async (key) => void stored.set(key, await blobs.size(key))),
    );
  return { held, stored, points: censuses.reduce((sum, { count }) => sum + count, 0) };
}

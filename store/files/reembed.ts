import type { Model } from 'mongoose';

import type { EmbeddingModelId, VectorSpace } from '../../contract/embeddingModels.js';
import type { FileFilters } from '../../contract/fileFilters.js';
import type { ReembedCandidate } from '../../contract/reembed.js';
import { FINAL_FILE_STATUSES } from '../../contract/statuses.js';
import type { Tenant } from '../users/accept.js';
import { fileQuery } from './filter.js';
import { ORDER_INDEXES } from './indexes.js';
import type { FileDoc } from './model.js';
import type { FileQueries } from './queries.js';
import type { StartedFile } from './start.js';

const AT_REST = { $in: [...FINAL_FILE_STATUSES] };
const CANDIDATE = {
  isContainer: 1,
  syncStatus: 1,
  syncErrorMessage: 1,
  embeddingStorageStatus: 1,
  vectorSpace: 1,
  numChunks: 1,
  hasText: 1,
  'options.embeddingModel': 1,
  'options.chunkOverlap': 1,
  'statistics.numTokens': 1,
} as const;
const ROWS_PER_BATCH = 1_000;

/** A file whose new vectors are written, as it was when its generation was given out. */
export interface ReembeddedFile extends StartedFile {
  readonly model: EmbeddingModelId;
  readonly space: VectorSpace;
  /** See SyncedContent; null where the next sync is to make everything anew. */
  readonly processedAs: string | null;
  /** The revision of the tags that the points carry. */
  readonly tagsRevision: number | null;
}

/**
 * Files that change their vectors and nothing else. They are no sync's: a file stays at rest, its number for the new
 * generation is given out while it is, and it is flipped only if nobody has begun anything with it since.
 */
export interface FileReembedding {
  /** Files that filters name and that were there at a time, by id. */
  candidates(
    tenant: Tenant,
    filters: FileFilters,
    acceptedAt: Date,
    afterId: number,
    limit: number | null,
  ): AsyncIterable<ReembedCandidate>;
  /** Gives containers at rest the model for what their next sync brings. */
  takeModel(tenant: Tenant, containerIds: readonly number[], model: EmbeddingModelId): Promise<void>;
  /** Gives out a generation for new vectors; null when the file is not as it was read any more. */
  beginVectors(file: FileDoc): Promise<StartedFile | null>;
  /** Flips files to their new vectors; answers the ids of those that were. */
  flipVectors(files: readonly ReembeddedFile[]): Promise<number[]>;
  /** From now on a generation can't be flipped to any more. */
  giveUpVectors(
    tenant: Tenant,
    tries: readonly { readonly fileId: number; readonly generation: number }[],
  ): Promise<void>;
}

export function createFileReembedding(files: Model<FileDoc>, queries: Pick<FileQueries, 'expand'>): FileReembedding {
  return {
    async *candidates(tenant, filters, acceptedAt, afterId, limit) {
      const query = fileQuery(tenant, await queries.expand(tenant, filters), afterId);
      const found = files
        .find({ $and: [query, { createdAt: { $lte: acceptedAt } }] }, CANDIDATE)
        .sort({ _id: 1 })
        .hint(ORDER_INDEXES.id);
      if (limit !== null) found.limit(limit);
      yield* found.lean().cursor({ batchSize: ROWS_PER_BATCH }) as AsyncIterable<ReembedCandidate>;
    },
    async takeModel({ organizationId, userId }, containerIds, model) {
      if (containerIds.length === 0) return;
      await files.updateMany(
        {
          _id: { $in: [...containerIds] },
          organizationId,
          userId,
          isContainer: true,
          syncStatus: AT_REST,
          'options.embeddingModel': { $ne: model },
        },
        { $set: { 'options.embeddingModel': model, updatedAt: new Date() } },
      );
    },
    async beginVectors({ _id, organizationId, userId, runId, generation }) {
      const file = await files
        .findOneAndUpdate(
          {
            ...{ _id, organizationId, userId, runId, generation },
            syncStatus: AT_REST,
            embeddingStorageStatus: 'HOT_STORAGE',
          },
          { $inc: { lastGeneration: 1 } },
          { returnDocument: 'after' },
        )
        .lean();
      return file && { file, generation: file.lastGeneration };
    },
    async flipVectors(reembedded) {
      if (reembedded.length === 0) return [];
      const updatedAt = new Date();
      await files.bulkWrite(
        reembedded.map(({ file, generation, model, space, processedAs, tagsRevision }) => ({
          updateOne: {
            filter: {
              _id: file._id,
              organizationId: file.organizationId,
              userId: file.userId,
              // Whoever begins something with the file is another run, or takes a number.
              runId: file.runId,
              syncStatus: AT_REST,
              generation: file.generation,
              lastGeneration: generation,
              embeddingStorageStatus: 'HOT_STORAGE',
              // Null also finds records without the field.
              tagsRevision,
            },
            update: {
              $set: {
                generation,
                vectorSpace: space.name,
                dimensions: space.dimensions,
                'options.embeddingModel': model,
                'statistics.numEmbeddings': file.numChunks,
                processedAs,
                cleanupPending: true,
                updatedAt,
              },
            },
          },
        })),
        { ordered: false },
      );
      // Also what a try before has flipped whose answer was lost.
      const rows = await files
        .find({ $or: reembedded.map(({ file, generation }) => ({ _id: file._id, generation })) }, { _id: 1 })
        .lean();
      return rows.map((row) => row._id);
    },
    async giveUpVectors({ organizationId, userId }, tries) {
      if (tries.length === 0) return;
      await files.bulkWrite(
        tries.map(({ fileId: _id, generation }) => ({
          updateOne: {
            filter: { _id, organizationId, userId, lastGeneration: generation, generation: { $ne: generation } },
            update: { $inc: { lastGeneration: 1 } },
          },
        })),
        { ordered: false },
      );
    },
  };
}

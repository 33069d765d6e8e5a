import type { Model } from 'mongoose';

import type { EmbeddingModelId, VectorSpace } from '../../contract/vectors/embeddingModels.js';
import type { FileFilters } from '../../contract/files/fileFilters.js';
import type { ReembedCandidate } from '../../contract/runs/reembed.js';
import { FINAL_FILE_STATUSES } from '../../contract/files/statuses.js';
import type { Tenant } from '../users/accept.js';
import { fileQuery } from './filter.js';
import { ORDER_INDEXES } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import type { FileQueries } from './queries.js';
import type { StartedFile } from './start.js';

const FINAL_STATE = { $in: [...FINAL_FILE_STATUSES] };
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

/** A file whose new vectors are written, with its record when its generation was assigned. */
export interface ReembeddedFile extends StartedFile {
  readonly model: EmbeddingModelId;
  readonly space: VectorSpace;
  /**
   * Hash of everything that affects the result of a sync, except the content: with an equal hash, the next sync skips
   * an unchanged file. Null: the next sync must process the file again.
   */
  readonly processedAs: string | null;
  /** Revision of the tags that the points carry. */
  readonly tagsRevision: number | null;
}

/**
 * Files of which only the vectors change. No sync is involved: a file keeps its state, gets a new generation, and is
 * published only if no sync has started since.
 */
export interface FileReembedding {
  /** Streams the files that match filters and existed at `acceptedAt`, ordered by id. */
  candidates(
    tenant: Tenant,
    filters: FileFilters,
    acceptedAt: Date,
    afterId: number,
    limit: number | null,
  ): AsyncIterable<ReembedCandidate>;
  /** Sets the model of idle containers, for the files of their next sync. */
  setModel(tenant: Tenant, containerIds: readonly number[], model: EmbeddingModelId): Promise<void>;
  /** Assigns a generation for new vectors; null if the file has changed since it was read. */
  beginVectors(file: FileDoc): Promise<StartedFile | null>;
  /** Publishes the new vectors of files; returns the ids of the published files. */
  publishVectors(files: readonly ReembeddedFile[]): Promise<number[]>;
  /** Prevents the publication of generations that were assigned for new vectors. */
  discardVectors(
    tenant: Tenant,
    attempts: readonly { readonly fileId: number; readonly generation: number }[],
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
    async setModel({ organizationId, userId }, containerIds, model) {
      if (containerIds.length === 0) return;
      await files.updateMany(
        {
          _id: { $in: [...containerIds] },
          organizationId,
          userId,
          isContainer: true,
          syncStatus: FINAL_STATE,
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
            syncStatus: FINAL_STATE,
            embeddingStorageStatus: 'HOT_STORAGE',
          },
          { $inc: { lastGeneration: 1 } },
          { returnDocument: 'after' },
        )
        .lean();
      return file && { file, generation: file.lastGeneration };
    },
    async publishVectors(reembedded) {
      if (reembedded.length === 0) return [];
      const updatedAt = new Date();
      await files.bulkWrite(
        reembedded.map(({ file, generation, model, space, processedAs, tagsRevision }) => ({
          updateOne: {
            filter: {
              _id: file._id,
              organizationId: file.organizationId,
              userId: file.userId,
              // A sync that started meanwhile has set another run or a new generation.
              runId: file.runId,
              syncStatus: FINAL_STATE,
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
      // Includes files that an earlier attempt published although its reply was lost.
      const rows = await files
        .find({ $or: reembedded.map(({ file, generation }) => ({ _id: file._id, generation })) }, { _id: 1 })
        .lean();
      return rows.map((row) => row._id);
    },
    async discardVectors({ organizationId, userId }, attempts) {
      if (attempts.length === 0) return;
      await files.bulkWrite(
        attempts.map(({ fileId: _id, generation }) => ({
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

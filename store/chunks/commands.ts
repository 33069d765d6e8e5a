import type { Model } from 'mongoose';

import type { GenerationScope } from '../generations.js';
import type { Tenant } from '../users/accept.js';
import { type ChunkDoc, chunkId } from './model.js';

export interface NewChunk {
  readonly text: string;
  readonly tokens: number;
  readonly start: number;
  readonly end: number;
  readonly metadata?: Record<string, unknown>;
}

export interface ChunkBatch extends Tenant {
  readonly fileId: number;
  readonly generation: number;
  readonly chunks: readonly NewChunk[];
}

/** Rows of one insert at most: keeps a command well under MongoDB's 48 MB. */
const ROWS_PER_INSERT = 1000;

export interface ChunkCommands {
  /** Writes the chunks of several files. Readers see them only once their generation is flipped. Safe to repeat. */
  write(batches: readonly ChunkBatch[]): Promise<void>;
  deleteGenerations(scopes: readonly GenerationScope[]): Promise<void>;
}

/** A duplicate key means that an earlier try wrote the same row. */
function onlyDuplicates(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 11000;
}

export function createChunkCommands(chunks: Model<ChunkDoc>): ChunkCommands {
  return {
    async write(batches) {
      const rows = batches.flatMap(({ organizationId, userId, fileId, generation, chunks: parts }) =>
        parts.map((part, chunkIndex): ChunkDoc => ({
          _id: chunkId(fileId, generation, chunkIndex),
          organizationId,
          userId,
          fileId,
          generation,
          chunkIndex,
          text: part.text,
          tokens: part.tokens,
          start: part.start,
          end: part.end,
          metadata: part.metadata ?? {},
        })),
      );
      for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
        try {
          // The rows were built right here: casting each through the schema again costs more than the write.
          await chunks.db
            .collection<ChunkDoc>(chunks.collection.name)
            .insertMany(rows.slice(from, from + ROWS_PER_INSERT), { ordered: false });
        } catch (error) {
          if (!onlyDuplicates(error)) throw error;
        }
      }
    },
    async deleteGenerations(scopes) {
      if (scopes.length === 0) return;
      await chunks.bulkWrite(
        scopes.map(({ organizationId, userId, fileId, generations }) => ({
          deleteMany: {
            filter: {
              organizationId,
              userId,
              fileId,
              generation: 'below' in generations ? { $lt: generations.below } : generations.exactly,
            },
          },
        })),
        { ordered: false },
      );
    },
  };
}

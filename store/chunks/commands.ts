import type { Model } from 'mongoose';

import { generationFilter, type GenerationScope } from '../generations.js';
import { insertOnce } from '../database/insertOnce.js';
import type { Tenant } from '../users/accept.js';
import type { SegmentDoc } from '../models/chunks.js';
import { type ChunkedText, toSegments } from './segments.js';
import { collectionOf } from '../database/driver.js';

/** Maximum characters per insert. It keeps a command below MongoDB's limit of 48 MB in any alphabet. */
const CHARACTERS_PER_INSERT = 8_000_000;

export interface ChunkCommands {
  /**
   * Writes the texts and chunks of several files. Readers see them only after their generation is published. Safe to
   * repeat.
   */
  write(texts: readonly ChunkedText[]): Promise<void>;
  /** Copies a file's texts and chunks to another generation, within MongoDB. Safe to repeat. */
  copyGeneration(file: Tenant & { readonly fileId: number }, from: number, to: number): Promise<void>;
  deleteGenerations(scopes: readonly GenerationScope[]): Promise<void>;
  /** Deletes all chunks of a user, including those that no file record references. */
  deleteAll(tenant: Tenant): Promise<void>;
}

/** Yields rows one at a time, so that only the rows of one insert are in memory. */
function* rowsOf(texts: readonly ChunkedText[]): Generator<SegmentDoc> {
  for (const text of texts) yield* toSegments(text);
}

export function createChunkCommands(segments: Model<SegmentDoc>): ChunkCommands {
  return {
    async write(texts) {
      let rows: SegmentDoc[] = [];
      let characters = 0;
      for (const row of rowsOf(texts)) {
        if (characters + row.text.length > CHARACTERS_PER_INSERT && rows.length > 0) {
          await insertOnce(segments, rows);
          [rows, characters] = [[], 0];
        }
        rows.push(row);
        characters += row.text.length;
      }
      if (rows.length > 0) await insertOnce(segments, rows);
    },
    async copyGeneration({ organizationId, userId, fileId }, from, to) {
      // An id is `fileId:generation:number`. The copy of a row has the same number as the row.
      const rowNumber = { $arrayElemAt: [{ $split: ['$_id', ':'] }, 2] };
      await segments.aggregate([
        { $match: { organizationId, userId, fileId, generation: from } },
        { $set: { _id: { $concat: [`${fileId}:${to}:`, rowNumber] }, generation: to } },
        { $merge: { into: collectionOf(segments), whenMatched: 'replace' } },
      ]);
    },
    async deleteGenerations(scopes) {
      if (scopes.length === 0) return;
      await segments.bulkWrite(
        scopes.map((scope) => ({ deleteMany: { filter: generationFilter(scope) } })),
        { ordered: false },
      );
    },
    async deleteAll({ organizationId, userId }) {
      await segments.deleteMany({ organizationId, userId });
    },
  };
}

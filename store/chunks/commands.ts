import type { Model } from 'mongoose';

import { generationFilter, type GenerationScope } from '../generations.js';
import { insertOnce } from '../insertOnce.js';
import type { Tenant } from '../users/accept.js';
import type { SegmentDoc } from './model.js';
import { type ChunkedText, toSegments } from './segments.js';

/** Characters of one insert at most: keeps a command under MongoDB's 48 MB, whatever the alphabet. */
const CHARACTERS_PER_INSERT = 8_000_000;

export interface ChunkCommands {
  /** Writes the texts and chunks of several files. Readers see them only once their generation is flipped. Safe to repeat. */
  write(texts: readonly ChunkedText[]): Promise<void>;
  deleteGenerations(scopes: readonly GenerationScope[]): Promise<void>;
  /** All of a user's, whether a file still names them or not. */
  deleteAll(tenant: Tenant): Promise<void>;
}

export function createChunkCommands(segments: Model<SegmentDoc>): ChunkCommands {
  return {
    async write(texts) {
      let rows: SegmentDoc[] = [];
      let characters = 0;
      for (const row of texts.flatMap(toSegments)) {
        if (characters + row.text.length > CHARACTERS_PER_INSERT && rows.length > 0) {
          await insertOnce(segments, rows);
          [rows, characters] = [[], 0];
        }
        rows.push(row);
        characters += row.text.length;
      }
      if (rows.length > 0) await insertOnce(segments, rows);
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

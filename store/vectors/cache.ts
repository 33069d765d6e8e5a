import { createHash } from 'node:crypto';
import type { Connection } from 'mongoose';

import type { VectorSpace } from '../../contract/vectors/embeddingModels.js';
import { createSingleFlight } from './singleFlight.js';
import { bytes, date, type RecordOf, required, schemaOf, text } from '../database/record.js';
import { readRows } from '../database/driver.js';

const CACHED_VECTOR = {
  /** organization:space:hash of the exact text. */
  _id: text,
  /** Float32 numbers, little endian. */
  vector: required(bytes),
  createdAt: required(date),
};

interface CachedVectorDoc extends RecordOf<typeof CACHED_VECTOR> {}

/**
 * Lifetime of a vector in seconds. It is limited, so that vectors of deleted content do not stay. A text that occurs
 * again later is embedded again.
 */
const LIFE_SECONDS = 30 * 24 * 3600;

const cachedVector = schemaOf<CachedVectorDoc>(CACHED_VECTOR);
cachedVector.index({ createdAt: 1 }, { expireAfterSeconds: LIFE_SECONDS });

/** Cache of vectors by the exact embedded text, so that the same text is embedded once per organization and space. */
export interface VectorCache {
  /**
   * Returns the vectors of texts, in their order. `compute` embeds the missing ones, each distinct text once; a vector
   * that another call of this process is computing is awaited.
   * @throws errors of `compute`, or the signal's reason
   */
  resolve(
    organizationId: number,
    space: VectorSpace,
    texts: readonly string[],
    compute: (missing: readonly string[]) => Promise<readonly Float32Array[]>,
    signal: AbortSignal,
  ): Promise<Float32Array[]>;
  /** Counts the texts that are cached. */
  countCached(organizationId: number, space: string, texts: readonly string[]): Promise<number>;
  createIndexes(): Promise<void>;
}

export function createVectorCache(connection: Connection): VectorCache {
  const model = connection.model<CachedVectorDoc>('vectorCache', cachedVector, 'vector_cache');
  const singleFlight = createSingleFlight<Float32Array>();
  const keyOf = (organizationId: number, space: string, exact: string): string =>
    `${organizationId}:${space}:${createHash('sha256').update(exact).digest('base64url')}`;

  const find = async (keys: readonly string[], dimensions: number): Promise<Map<string, Float32Array>> => {
    // The driver returns the bytes as BSON's Binary.
    const rows = await readRows<
      CachedVectorDoc,
      { readonly _id: string; readonly vector: { readonly buffer: Uint8Array } }
    >(model, { _id: { $in: [...keys] } }, { maxRows: keys.length });
    const found = rows.map(({ _id, vector }) => {
      // Copied, because BSON's view need not begin at a multiple of four.
      const copy = Uint8Array.from(vector.buffer);
      return [_id, new Float32Array(copy.buffer)] as const;
    });
    return new Map(found.filter(([, vector]) => vector.length === dimensions));
  };
  const put = async (vectors: ReadonlyMap<string, Float32Array>): Promise<void> => {
    const createdAt = new Date();
    await model.bulkWrite(
      [...vectors].map(([_id, { buffer, byteOffset, byteLength }]) => ({
        updateOne: {
          filter: { _id },
          update: { $set: { vector: Buffer.from(buffer, byteOffset, byteLength), createdAt } },
          upsert: true,
        },
      })),
      { ordered: false },
    );
  };

  return {
    async resolve(organizationId, space, texts, compute, signal) {
      const keys = texts.map((input) => keyOf(organizationId, space.name, input));
      const textOf = new Map(keys.map((key, index) => [key, texts[index] ?? '']));
      const vectors = await singleFlight.get(
        keys,
        async (requestedKeys) => {
          const cached = await find(requestedKeys, space.dimensions);
          const missing = requestedKeys.filter((key) => !cached.has(key));
          if (missing.length === 0) return cached;
          const computed = await compute(missing.map((key) => textOf.get(key) ?? ''));
          const newVectors = new Map(
            missing.flatMap((key, index) => (computed[index] ? [[key, computed[index]]] : [])),
          );
          await put(newVectors);
          return new Map([...cached, ...newVectors]);
        },
        signal,
      );
      return keys.map((key) => {
        const vector = vectors.get(key);
        if (!vector) throw new Error('The embedding returned no vector for a text');
        return vector;
      });
    },
    async countCached(organizationId, space, texts) {
      const keys = texts.map((input) => keyOf(organizationId, space, input));
      const rows = await model.find({ _id: { $in: [...new Set(keys)] } }, { _id: 1 }).lean();
      const cached = new Set(rows.map(({ _id }) => _id));
      return keys.filter((key) => cached.has(key)).length;
    },
    async createIndexes() {
      await model.createIndexes();
    },
  };
}

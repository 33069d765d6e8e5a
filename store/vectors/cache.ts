import { createHash } from 'node:crypto';
import { type Connection, Schema } from 'mongoose';

interface CachedVectorDoc {
  /** organization:space:hash of the exact text. */
  _id: string;
  /** Float32 numbers, little endian. */
  vector: Buffer;
  createdAt: Date;
}

/** A text that was not embedded for so long is embedded again: deleted content leaves no vectors behind for ever. */
const LIFE_SECONDS = 30 * 24 * 3600;

const cachedVector: Schema<CachedVectorDoc> = new Schema<CachedVectorDoc>(
  { _id: String, vector: { type: Buffer, required: true }, createdAt: { type: Date, required: true } },
  { versionKey: false },
);
cachedVector.index({ createdAt: 1 }, { expireAfterSeconds: LIFE_SECONDS });

/** Vectors by the exact text that was embedded, so that the same text is embedded once per organization and space. */
export interface VectorCache {
  /** In the order of the texts; null for one that is not known. */
  find(organizationId: number, space: string, texts: readonly string[]): Promise<(Float32Array | null)[]>;
  put(organizationId: number, space: string, texts: readonly string[], vectors: readonly Float32Array[]): Promise<void>;
  createIndexes(): Promise<void>;
}

export function createVectorCache(connection: Connection): VectorCache {
  const model = connection.model<CachedVectorDoc>('vectorCache', cachedVector, 'vector_cache');
  const keyOf = (organizationId: number, space: string, text: string): string =>
    `${organizationId}:${space}:${createHash('sha256').update(text).digest('base64url')}`;
  return {
    async find(organizationId, space, texts) {
      const keys = texts.map((text) => keyOf(organizationId, space, text));
      const rows = await model.collection
        .find<{ _id: unknown; vector: { buffer: Uint8Array } }>({ _id: { $in: [...new Set(keys)] } } as object)
        .toArray();
      const found = new Map(
        rows.map(({ _id, vector }) => {
          // A copy, since BSON's view need not begin at a multiple of four.
          const bytes = Uint8Array.from(vector.buffer);
          return [String(_id), new Float32Array(bytes.buffer)] as const;
        }),
      );
      return keys.map((key) => found.get(key) ?? null);
    },
    async put(organizationId, space, texts, vectors) {
      if (texts.length === 0) return;
      const createdAt = new Date();
      await model.bulkWrite(
        texts.map((text, index) => {
          const { buffer, byteOffset, byteLength } = vectors[index] ?? new Float32Array();
          const vector = Buffer.from(buffer, byteOffset, byteLength);
          return {
            updateOne: {
              filter: { _id: keyOf(organizationId, space, text) },
              update: { $set: { vector, createdAt } },
              upsert: true,
            },
          };
        }),
        { ordered: false },
      );
    },
    async createIndexes() {
      await model.createIndexes();
    },
  };
}

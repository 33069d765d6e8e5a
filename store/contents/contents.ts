import type { Model } from 'mongoose';

import { generationFilter, type GenerationScope } from '../generations.js';
import { insertOnce } from '../database/insertOnce.js';
import type { Tenant } from '../users/accept.js';
import { blobKey, type Blobs } from './blobs.js';
import { type ContentDoc, contentId } from '../models/contents.js';
import { collectionOf } from '../database/driver.js';

export interface ContentOwner extends Tenant {
  readonly fileId: number;
  readonly generation: number;
}

/** Content that is small enough for a row of MongoDB. */
export interface SmallContent extends ContentOwner {
  readonly bytes: Uint8Array;
}

/**
 * Contents as received. Small contents are rows of a MongoDB collection, written many at a time: a write to file
 * storage takes a hundred times as long. Large contents are stored in file storage. Every method is safe to repeat.
 */
export interface Contents {
  /**
   * Stores large content in file storage and returns null. Returns small content, which the caller passes to `write`.
   */
  saveIfLarge(owner: ContentOwner, bytes: Uint8Array): Promise<SmallContent | null>;
  write(contents: readonly SmallContent[]): Promise<void>;
  /** Returns the content; null if there is none. */
  get(owner: Omit<ContentOwner, 'userId'>): Promise<Uint8Array | null>;
  /** Copies the content to another generation of its file. Does nothing if there is no content. */
  copyGeneration(owner: ContentOwner, to: number): Promise<void>;
  deleteGenerations(scopes: readonly GenerationScope[]): Promise<void>;
  /** Deletes all rows of a user, including those that no file record references. */
  deleteAll(tenant: Tenant): Promise<void>;
  /**
   * Counts the stored contents of files, of all generations and kinds. A deletion calls it to check that none remains.
   */
  countOf(tenant: Tenant, fileIds: readonly number[]): Promise<number>;
}

/** @param rowBytes maximum size in bytes of contents that are stored as rows */
export function createContents(rows: Model<ContentDoc>, blobs: Blobs, rowBytes: number): Contents {
  return {
    async saveIfLarge(owner, bytes) {
      if (bytes.byteLength <= rowBytes) return { ...owner, bytes };
      await blobs.put(blobKey(owner), bytes);
      return null;
    },
    async write(contents) {
      if (contents.length === 0) return;
      await insertOnce(
        rows,
        contents.map(({ organizationId, userId, fileId, generation, bytes }) => ({
          _id: contentId(fileId, generation),
          organizationId,
          userId,
          fileId,
          generation,
          bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        })),
      );
    },
    async get(owner) {
      const { organizationId, fileId, generation } = owner;
      const row = await rows.findOne({ _id: contentId(fileId, generation), organizationId }, { bytes: 1 });
      return row?.bytes ?? blobs.get(blobKey(owner));
    },
    async copyGeneration(owner, to) {
      const { organizationId, userId, fileId, generation } = owner;
      await rows.aggregate([
        { $match: { _id: contentId(fileId, generation), organizationId, userId } },
        { $set: { _id: contentId(fileId, to), generation: to } },
        { $merge: { into: collectionOf(rows), whenMatched: 'replace' } },
      ]);
      const parts = await blobs.stream(blobKey(owner));
      if (parts) await blobs.putStream(blobKey({ ...owner, generation: to }), parts);
    },
    async deleteGenerations(scopes) {
      if (scopes.length === 0) return;
      await Promise.all([
        rows.bulkWrite(
          scopes.map((scope) => ({ deleteMany: { filter: generationFilter(scope) } })),
          { ordered: false },
        ),
        ...scopes.map((scope) => blobs.deleteGenerations(scope)),
      ]);
    },
    async deleteAll({ organizationId, userId }) {
      await rows.deleteMany({ organizationId, userId });
    },
    async countOf({ organizationId, userId }, fileIds) {
      const small = await rows.countDocuments({ organizationId, userId, fileId: { $in: [...fileIds] } });
      const large = await Promise.all(fileIds.map((fileId) => blobs.countOf({ organizationId, fileId })));
      return large.reduce((sum, count) => sum + count, small);
    },
  };
}

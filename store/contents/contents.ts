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

/** A content that waits to be written together with others. */
export interface SmallContent extends ContentOwner {
  readonly bytes: Uint8Array;
}

/**
 * Contents as received. Small ones are rows next to the chunks of their file, many to a write: a file of its own costs
 * a hundred times as much. Larger ones go to file storage. Safe to repeat; contents never change.
 */
export interface Contents {
  /** Keeps a large content at once and answers null; a small one is answered, to be given to `write`. */
  take(owner: ContentOwner, bytes: Uint8Array): Promise<SmallContent | null>;
  write(contents: readonly SmallContent[]): Promise<void>;
  /** Null when there is none. */
  get(owner: Omit<ContentOwner, 'userId'>): Promise<Uint8Array | null>;
  /** Copies a content to another generation of its file; where there is none, nothing happens. */
  copyGeneration(owner: ContentOwner, to: number): Promise<void>;
  deleteGenerations(scopes: readonly GenerationScope[]): Promise<void>;
  /** All rows of a user, whether a file still names them or not. */
  deleteAll(tenant: Tenant): Promise<void>;
  /** Contents of some files, of every generation: for checks that nothing is left behind. */
  countOf(tenant: Tenant, fileIds: readonly number[]): Promise<number>;
}

/** @param rowBytes contents up to so many bytes are rows */
export function createContents(rows: Model<ContentDoc>, blobs: Blobs, rowBytes: number): Contents {
  return {
    async take(owner, bytes) {
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

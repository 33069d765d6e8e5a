import type { Model } from 'mongoose';

import type { Blobs } from '../contents/blobs.js';
import type { Sequence, Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { Original, OriginalDoc } from '../models/originals.js';
import { receive, type Received } from './receive.js';

/** Content that was received completely and is not assigned to a file yet. */
export interface DraftOriginal extends Original, Pick<Received, 'head' | 'bytes'> {
  readonly owner: Tenant;
}

/** Readable content: in memory, or in a local file that exists until `close` is called. */
export type OpenedOriginal = ({ readonly bytes: Uint8Array } | { readonly path: string }) & {
  close(): Promise<void>;
};

/** Interval of a receiver's heartbeats, in milliseconds. */
const ALIVE_EVERY_MS = 10_000;
/** Time without a heartbeat after which a receiver counts as crashed, in milliseconds. */
const DEAD_AFTER_MS = 90_000;
/** Maximum number of contents that one call of `sweep` deletes. */
const SWEPT_AT_ONCE = 100;
const LONG_AGO = new Date(0);

/**
 * Contents that users uploaded, or that were downloaded at their request. Each content is stored once, even if it is
 * processed several times. Small contents are rows, written in the transaction that accepts them. Larger contents are
 * streamed to file storage.
 */
export interface Originals {
  /** Stores content while it is received, without a file yet. After a failure, nothing stays stored. */
  receive(owner: Tenant, parts: AsyncIterable<Uint8Array>): Promise<DraftOriginal>;
  /**
   * Assigns content to a file, in the transaction that writes the file.
   * @throws if the content was presumed abandoned and deleted
   */
  accept(draft: DraftOriginal, fileId: number, session: Session): Promise<void>;
  /** Detaches content from its file; `sweep` then deletes it. */
  release(owner: Tenant & { readonly fileId: number }, id: number, session: Session): Promise<void>;
  /**
   * Deletes content that was not assigned to a file. Keeps the content if the assignment succeeded but its confirmation
   * was lost.
   */
  discard(draft: DraftOriginal): Promise<void>;
  /** Opens the content; null if the file has no such content. */
  open(owner: { organizationId: number; fileId: number }, id: number): Promise<OpenedOriginal | null>;
  /** Streams the content in parts; null if the file has no such content. */
  stream(owner: { organizationId: number; fileId: number }, id: number): Promise<AsyncIterable<Uint8Array> | null>;
  deleteOf(tenant: Tenant, fileIds: readonly number[]): Promise<void>;
  /** Deletes all contents of a user that belong to a file, even if the file no longer exists. */
  deleteAll(tenant: Tenant): Promise<void>;
  countOf(tenant: Tenant, fileIds: readonly number[]): Promise<number>;
  /** Deletes contents of crashed receivers and replaced contents; returns their number. */
  sweep(now?: number): Promise<number>;
}

/** Returns the key of large content in file storage. */
export const originalKey = ({ organizationId, _id }: Pick<OriginalDoc, 'organizationId' | '_id'>): string =>
  `${organizationId}/originals/${_id}`;

/** @param rowBytes maximum size in bytes of contents that are stored as rows */
export function createOriginals(
  rows: Model<OriginalDoc>,
  blobs: Blobs,
  sequence: Sequence,
  rowBytes: number,
): Originals {
  /** Deletes content without a file, unless it has just been assigned. Returns whether it was deleted. */
  const remove = async (onlyIf: object, row: Pick<OriginalDoc, '_id' | 'organizationId'>): Promise<boolean> => {
    const { matchedCount } = await rows.updateOne(
      { ...onlyIf, _id: row._id, fileId: null },
      { $set: { markedForDeletion: true } },
    );
    // If the row exists, the content was assigned, or its receiver sends heartbeats again. If not, the row was deleted
    // during the receipt: delete the bytes too.
    if (matchedCount === 0 && (await rows.exists({ _id: row._id })) !== null) return false;
    await blobs.delete(originalKey(row));
    await rows.deleteOne({ _id: row._id, markedForDeletion: true });
    return true;
  };
  const rowOf = ({ organizationId, fileId }: { organizationId: number; fileId: number }, id: number) =>
    rows.findOne({ _id: id, organizationId, fileId }, { organizationId: 1, bytes: 1 });
  const deleteMatching = async (query: object): Promise<void> => {
    for (;;) {
      const found = await rows
        .find(query, { organizationId: 1, large: { $eq: ['$bytes', null] } })
        .limit(SWEPT_AT_ONCE)
        .lean<(Pick<OriginalDoc, '_id' | 'organizationId'> & { large: boolean })[]>();
      if (found.length === 0) return;
      await Promise.all(found.filter(({ large }) => large).map((row) => blobs.delete(originalKey(row))));
      await rows.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
    }
  };

  return {
    async receive(owner, parts) {
      const { organizationId, userId } = owner;
      const _id = await sequence.next('original');
      let heartbeat: NodeJS.Timeout | null = null;
      const storeStream = async (remainingParts: AsyncIterable<Uint8Array>): Promise<void> => {
        await rows.create({ _id, organizationId, userId, aliveAt: new Date() });
        heartbeat = setInterval(() => {
          // A failed heartbeat is not repeated: the next one follows soon.
          rows.updateOne({ _id, fileId: null }, { $set: { aliveAt: new Date() } }).catch(() => undefined);
        }, ALIVE_EVERY_MS).unref();
        await blobs.putStream(originalKey({ organizationId, _id }), remainingParts);
        await rows.updateOne({ _id, fileId: null }, { $set: { aliveAt: new Date() } });
      };
      try {
        return { owner: { organizationId, userId }, id: _id, ...(await receive(parts, rowBytes, storeStream)) };
      } catch (error) {
        // The sweep repeats a failed deletion.
        if (heartbeat !== null) await remove({}, { _id, organizationId }).catch(() => false);
        throw error;
      } finally {
        if (heartbeat !== null) clearInterval(heartbeat);
      }
    },
    async accept({ id: _id, owner: { organizationId, userId }, bytes }, fileId, session) {
      if (bytes !== null) {
        await rows.create([{ _id, organizationId, userId, fileId, bytes }], { session });
        return;
      }
      const unassigned = { _id, organizationId, userId, fileId: null, markedForDeletion: false };
      const { matchedCount } = await rows.updateOne(unassigned, { $set: { fileId, aliveAt: null } }).session(session);
      if (matchedCount === 0)
        throw new Error(`The content ${_id} was deleted before it was accepted. Upload it again.`);
    },
    async release({ organizationId, userId, fileId }, _id, session) {
      const assigned = { _id, organizationId, userId, fileId };
      await rows.updateOne(assigned, { $set: { fileId: null, aliveAt: LONG_AGO } }).session(session);
    },
    async discard({ id: _id, owner: { organizationId }, bytes }) {
      if (bytes === null) await remove({}, { _id, organizationId });
    },
    async open(owner, id) {
      const row = await rowOf(owner, id);
      if (row === null) return null;
      const { bytes } = row;
      if (bytes !== null) return { bytes, close: () => Promise.resolve() };
      return blobs.open(originalKey(row));
    },
    async stream(owner, id) {
      const row = await rowOf(owner, id);
      if (row === null) return null;
      const { bytes } = row;
      if (bytes === null) return blobs.stream(originalKey(row));
      return (async function* whole() {
        yield await Promise.resolve(bytes);
      })();
    },
    deleteOf: ({ organizationId, userId }, fileIds) =>
      deleteMatching({ organizationId, userId, fileId: { $in: [...fileIds] } }),
    deleteAll: ({ organizationId, userId }) => deleteMatching({ organizationId, userId, fileId: { $ne: null } }),
    countOf: ({ organizationId, userId }, fileIds) =>
      rows.countDocuments({ organizationId, userId, fileId: { $in: [...fileIds] } }).exec(),
    async sweep(now = Date.now()) {
      const abandoned = { aliveAt: { $lt: new Date(now - DEAD_AFTER_MS) } };
      const found = await rows
        .find({ ...abandoned, fileId: null }, { organizationId: 1 })
        .limit(SWEPT_AT_ONCE)
        .lean<Pick<OriginalDoc, '_id' | 'organizationId'>[]>();
      const removed = await Promise.all(found.map((row) => remove(abandoned, row)));
      return removed.filter(Boolean).length;
    },
  };
}

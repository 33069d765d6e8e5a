import type { Model } from 'mongoose';

import { fileTags, sameTags, type StoredTag, tagPairs } from '../../contract/files/tags.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { FileDoc } from '../models/files.js';

/** The tags that a file's points must carry, and the revision of the tags. */
export interface TaggedFile extends Tenant {
  readonly _id: number;
  readonly tagPairs: string[];
  readonly sourceTags?: StoredTag[];
  /** Increases with every change of the file's tags; absent in records that were never changed. */
  readonly tagsRevision?: number;
}

/** Tags of files. After a change, the caller must update the points too (activities/runs/updateTags.ts). */
export interface FileTags {
  /** Replaces a file's own tags with the result of `change`. Returns null if the user has no such file. */
  changeTags(
    tenant: Tenant,
    id: number,
    change: (tags: readonly StoredTag[]) => StoredTag[],
    session: Session,
  ): Promise<{ file: FileDoc; changed: boolean } | null>;
  /** Returns the next files of a data source that lack its latest tags, ordered by id. */
  listBehindSourceTags(source: DataSourceDoc, afterId: number, limit: number): Promise<FileDoc[]>;
  /**
   * Copies the tags of a data source to files. Skips a file whose tags changed since it was read; a later call of
   * `listBehindSourceTags` returns it again.
   */
  applySourceTags(source: DataSourceDoc, files: readonly FileDoc[]): Promise<void>;
  /**
   * Sets sourceTagsVersion to the source's version on the given files that have its tags; skips the others. Call it
   * after their points have the tags too.
   */
  markSourceTagsApplied(source: DataSourceDoc, files: readonly TaggedFile[]): Promise<void>;
  /** Returns the tags that the points of these files must carry now. */
  findTags(ids: readonly number[]): Promise<TaggedFile[]>;
}

export function createFileTags(files: Model<FileDoc>): FileTags {
  /** Returns a filter for the file with unchanged tags. A null revision also matches records without the field. */
  const asRead = (file: { _id: number; tagsRevision?: number }) => ({
    _id: file._id,
    tagsRevision: file.tagsRevision ?? null,
  });
  const ofSource = ({ _id, organizationId, userId }: DataSourceDoc) => ({ organizationId, userId, dataSourceId: _id });
  return {
    async changeTags({ organizationId, userId }, id, change, session) {
      const existing = await files.findOne({ _id: id, organizationId, userId }).session(session).lean();
      if (!existing) return null;
      const tags = change(existing.tags);
      if (sameTags(existing.tags, tags)) return { file: existing, changed: false };
      const pairs = tagPairs(fileTags({ ...existing, tags }));
      const file = await files
        .findOneAndUpdate(
          { _id: id, organizationId, userId },
          { $set: { tags, tagPairs: pairs, updatedAt: new Date() }, $inc: { tagsRevision: 1 } },
          { returnDocument: 'after', session },
        )
        .lean();
      return file && { file, changed: true };
    },
    async listBehindSourceTags(source, afterId, limit) {
      return files
        .find({ ...ofSource(source), sourceTagsVersion: { $ne: source.tagsVersion }, _id: { $gt: afterId } })
        .sort({ _id: 1 })
        .limit(limit)
        .lean();
    },
    async applySourceTags(source, outdated) {
      const updatedAt = new Date();
      await files.bulkWrite(
        outdated.map((file) => ({
          updateOne: {
            filter: asRead(file),
            update: {
              $set: {
                sourceTags: source.tags,
                tagPairs: tagPairs(fileTags({ tags: file.tags, sourceTags: source.tags })),
                updatedAt,
              },
              $inc: { tagsRevision: 1 },
            },
          },
        })),
        { ordered: false },
      );
    },
    async markSourceTagsApplied(source, taggedFiles) {
      const upToDate = taggedFiles.filter(({ sourceTags = [] }) => sameTags(sourceTags, source.tags));
      if (upToDate.length === 0) return;
      await files.bulkWrite(
        upToDate.map((file) => ({
          updateOne: { filter: asRead(file), update: { $set: { sourceTagsVersion: source.tagsVersion } } },
        })),
        { ordered: false },
      );
    },
    findTags: (ids) =>
      files
        .find({ _id: { $in: [...ids] } }, { organizationId: 1, userId: 1, tagPairs: 1, sourceTags: 1, tagsRevision: 1 })
        .lean()
        .exec(),
  };
}

import type { Model, QueryFilter } from 'mongoose';

import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { MediaType } from '../../contract/files/mediaTypes.js';
import { AUDIO_SOURCES, VIDEO_SOURCES } from '../../contract/sources/sources.js';
import { fileQuery } from '../files/filter.js';
import { COLD } from '../files/hitFiles.js';
import { COLD_INDEXES } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import type { FileQueries } from '../files/queries.js';
import type { Tenant } from '../users/accept.js';
import type { ChunkFilter } from '../vectors/searchFilter.js';
import { readRow } from '../database/driver.js';

export interface ColdFiles {
  /** Returns ids of at most `limit` files that a search needs and whose vectors are not in Qdrant. */
  findForSearch(tenant: Tenant, model: EmbeddingModelId, filter: ChunkFilter, limit: number): Promise<number[]>;
}

/** Files of each media type, by the same rules that set the media type of their points. */
const ofMedia: Readonly<Record<MediaType, QueryFilter<FileDoc>>> = {
  TEXT: { hasText: true },
  IMAGE: { hasText: false },
  AUDIO: { source: { $in: [...AUDIO_SOURCES] } },
  VIDEO: { source: { $in: [...VIDEO_SOURCES] } },
};

export function createColdFiles(
  files: Model<FileDoc>,
  { descendantParents }: Pick<FileQueries, 'descendantParents'>,
): ColdFiles {
  return {
    async findForSearch(tenant, model, filter, limit) {
      const { organizationId, userId } = tenant;
      // Most users have no cold file. One read of a small index detects that.
      const coldFile = { organizationId, userId, ...COLD };
      const hint = COLD_INDEXES.cold.keys;
      if ((await readRow(files, coldFile, { fields: { _id: 1 }, hint })) === null) return [];
      const { fileIds = [], parentFileIds = [], includeAllChildren = false, tagTree, fileTypesAtSource = [] } = filter;
      const parentsOf = async (ids: readonly number[]): Promise<number[]> =>
        includeAllChildren ? [...new Set([...ids, ...(await descendantParents(tenant, ids))])] : [...ids];
      const conditions: QueryFilter<FileDoc>[] = [
        fileQuery(tenant, {
          ...(tagTree ? { tagTree } : {}),
          fileTypesAtSource,
          parentFileIds: await parentsOf(parentFileIds),
          embeddingModels: [model],
        }),
        COLD,
        ofMedia[filter.media],
      ];
      if (fileIds.length > 0) {
        const withId = { _id: { $in: [...fileIds] } };
        conditions.push(
          includeAllChildren ? { $or: [withId, { parentId: { $in: await parentsOf(fileIds) } }] } : withId,
        );
      }
      const rows = await files.find({ $and: conditions }, { _id: 1 }).sort({ _id: 1 }).limit(limit).lean();
      return rows.map((row) => row._id);
    },
  };
}

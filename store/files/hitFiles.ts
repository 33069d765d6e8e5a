import type { Model, QueryFilter } from 'mongoose';

import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { Tenant } from '../users/accept.js';
import type { FileDoc } from '../models/files.js';
import { aggregateRows, collectionOf, readRows } from '../database/driver.js';

/** Fields of a chunk's file that a search returns or needs. */
const HIT_FIELDS = [
  ...(['_id', 'organizationId', 'userId', 'parentId', 'generation', 'embeddingStorageStatus'] as const),
  ...(['name', 'source', 'externalUrl', 'tags', 'sourceTags', 'fileMetadata'] as const),
  ...(['original', 'hasContent', 'hasText', 'supportsColdStorage', 'lastUsedAt'] as const),
];
export type HitFile = Pick<FileDoc, (typeof HIT_FIELDS)[number]>;

/** Matches files whose vectors are not in Qdrant. */
export const COLD = { embeddingStorageStatus: { $in: ['COLD_STORAGE', 'COLD_TO_HOT'] as const } };

/** Files of the user that a search does not cover. */
export interface UnsearchedFiles {
  readonly model: EmbeddingModelId;
  /** The searched vector space. Files of the model in other spaces count as unsearched. */
  readonly space: string;
  /** Whether files in cold storage, of any model, count as unsearched. */
  readonly cold: boolean;
}

export interface HitFiles {
  /** Returns the records of hits, with the fields that a search needs. */
  findHits(tenant: Tenant, ids: readonly number[]): Promise<HitFile[]>;
  /**
   * Returns the records of hits and, from the same query, whether the user has unsearched files.
   */
  findWithOtherSpaces(
    tenant: Tenant,
    ids: readonly number[],
    unsearched: UnsearchedFiles,
  ): Promise<{ readonly files: HitFile[]; readonly hasUnsearched: boolean }>;
}

/** Id of the row that reports unsearched files. */
const MARK = 'unsearched';

export function createHitFiles(files: Model<FileDoc>): HitFiles {
  const fields = Object.fromEntries(HIT_FIELDS.map((field) => [field, 1 as const]));
  const byIds = ({ organizationId, userId }: Tenant, ids: readonly number[]): QueryFilter<FileDoc> => ({
    organizationId,
    userId,
    _id: { $in: [...ids] },
  });
  /** Returns a stage that adds one row if a file matches. */
  const existenceStage = (query: object): object => ({
    $unionWith: {
      coll: collectionOf(files),
      pipeline: [{ $match: query }, { $limit: 1 }, { $project: { _id: MARK } }],
    },
  });
  return {
    findHits: (tenant, ids) => readRows<FileDoc, HitFile>(files, byIds(tenant, ids), { fields, maxRows: ids.length }),
    async findWithOtherSpaces(tenant, ids, { model, space, cold }) {
      const { organizationId, userId } = tenant;
      const other = { 'options.embeddingModel': model, vectorSpace: { $nin: [null, space] } };
      const stages = [
        { $match: byIds(tenant, ids) },
        { $project: fields },
        existenceStage({ organizationId, userId, ...other }),
        ...(cold ? [existenceStage({ organizationId, userId, ...COLD })] : []),
      ];
      const rows = await aggregateRows<FileDoc, HitFile | { readonly _id: typeof MARK }>(files, stages, ids.length + 2);
      const found = rows.filter((row): row is HitFile => row._id !== MARK);
      return { files: found, hasUnsearched: found.length < rows.length };
    },
  };
}

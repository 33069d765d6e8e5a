import type { Model, QueryFilter } from 'mongoose';

import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { Tenant } from '../users/accept.js';
import type { FileDoc } from '../models/files.js';
import { aggregateRows, collectionOf, readRows } from '../database/driver.js';

/** What a search answers, or must know, of the file of a chunk. */
const FOUND_FIELDS = [
  ...(['_id', 'organizationId', 'userId', 'parentId', 'generation', 'embeddingStorageStatus'] as const),
  ...(['name', 'source', 'externalUrl', 'tags', 'sourceTags', 'fileMetadata'] as const),
  ...(['original', 'hasContent', 'hasText', 'supportsColdStorage', 'lastUsedAt'] as const),
];
export type FoundFile = Pick<FileDoc, (typeof FOUND_FIELDS)[number]>;

/** Files whose vectors are not at hand. */
export const COLD = { embeddingStorageStatus: { $in: ['COLD_STORAGE', 'COLD_TO_HOT'] as const } };

/** What else of a user's files would have to be searched, or asked about. */
export interface Elsewhere {
  readonly model: EmbeddingModelId;
  /** The vector space; files of the model in other spaces are found. */
  readonly space: string;
  /** Whether files in cold storage count, of whatever model. */
  readonly cold: boolean;
}

export interface FoundFiles {
  /** Records of hits, as far as a search needs them. */
  found(tenant: Tenant, ids: readonly number[]): Promise<FoundFile[]>;
  /** The same, and in the same question whether the user has any file elsewhere. */
  findWithOtherSpaces(
    tenant: Tenant,
    ids: readonly number[],
    elsewhere: Elsewhere,
  ): Promise<{ readonly files: FoundFile[]; readonly isElsewhere: boolean }>;
}

/** The id of a row that stands for files elsewhere. */
const MARK = 'elsewhere';

export function createFoundFiles(files: Model<FileDoc>): FoundFiles {
  const fields = Object.fromEntries(FOUND_FIELDS.map((field) => [field, 1 as const]));
  const named = ({ organizationId, userId }: Tenant, ids: readonly number[]): QueryFilter<FileDoc> => ({
    organizationId,
    userId,
    _id: { $in: [...ids] },
  });
  /** At most one row, if such a file exists. */
  const any = (query: object): object => ({
    $unionWith: {
      coll: collectionOf(files),
      pipeline: [{ $match: query }, { $limit: 1 }, { $project: { _id: MARK } }],
    },
  });
  return {
    found: (tenant, ids) => readRows<FileDoc, FoundFile>(files, named(tenant, ids), { fields, most: ids.length }),
    async findWithOtherSpaces(tenant, ids, { model, space, cold }) {
      const { organizationId, userId } = tenant;
      const other = { 'options.embeddingModel': model, vectorSpace: { $nin: [null, space] } };
      const stages = [
        { $match: named(tenant, ids) },
        { $project: fields },
        any({ organizationId, userId, ...other }),
        ...(cold ? [any({ organizationId, userId, ...COLD })] : []),
      ];
      const rows = await aggregateRows<FileDoc, FoundFile | { readonly _id: typeof MARK }>(
        files,
        stages,
        ids.length + 2,
      );
      const found = rows.filter((row): row is FoundFile => row._id !== MARK);
      return { files: found, isElsewhere: found.length < rows.length };
    },
  };
}

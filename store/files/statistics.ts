import type { Model } from 'mongoose';

import type { TagValue } from '../../contract/files/records.js';
import type { SourceType } from '../../contract/sources/sources.js';
import type { FileStatisticsTotals, FileTotals } from '../../contract/files/statistics.js';
import type { Tenant } from '../users/accept.js';
import type { FileDoc } from '../models/files.js';
import type { CreateSumCache } from './sumCache.js';

/** Maximum number of different tags of one user that are returned. */
const MAX_TAGS = 1000;
/** Maximum number of users whose sums are cached. */
const USERS_KEPT = 500;

/** Sums over files, computed on request. */
export interface FileSums {
  totals(tenant: Tenant): Promise<FileStatisticsTotals>;
  /** Returns the totals of all users of an organization. Slow for large organizations. */
  totalsOfAll(organizationId: number): Promise<FileStatisticsTotals>;
  /** Returns each different tag of the user's files once, by key; at most a thousand. */
  uniqueTags(tenant: Tenant): Promise<{ key: string; value: TagValue }[]>;
}

type Row = FileTotals & { readonly _id: { readonly source: SourceType; readonly format: string | null } };

const add = (a: FileTotals | undefined, b: FileTotals): FileTotals => ({
  files: (a?.files ?? 0) + b.files,
  fileSize: (a?.fileSize ?? 0) + b.fileSize,
  numCharacters: (a?.numCharacters ?? 0) + b.numCharacters,
  numTokens: (a?.numTokens ?? 0) + b.numTokens,
  numEmbeddings: (a?.numEmbeddings ?? 0) + b.numEmbeddings,
});

export function createFileSums(files: Model<FileDoc>, createCache: CreateSumCache): FileSums {
  const totalsCache = createCache<FileStatisticsTotals>(USERS_KEPT);
  const tagsCache = createCache<{ key: string; value: TagValue }[]>(USERS_KEPT);
  const sumOf = async (owner: { organizationId: number; userId?: number }): Promise<FileStatisticsTotals> => {
    const rows = await files.aggregate<Row>([
      { $match: { ...owner, isContainer: false, generation: { $gt: 0 } } },
      {
        $group: {
          _id: { source: '$source', format: '$statistics.fileFormat' },
          files: { $sum: 1 },
          fileSize: { $sum: '$statistics.fileSize' },
          numCharacters: { $sum: '$statistics.numCharacters' },
          numTokens: { $sum: '$statistics.numTokens' },
          numEmbeddings: { $sum: '$statistics.numEmbeddings' },
        },
      },
    ]);
    const bySource: Partial<Record<SourceType, FileTotals>> = {};
    const filesByFormat: Record<string, number> = {};
    for (const { _id, ...sums } of rows) {
      bySource[_id.source] = add(bySource[_id.source], sums);
      if (_id.format !== null) filesByFormat[_id.format] = (filesByFormat[_id.format] ?? 0) + sums.files;
    }
    return { bySource, filesByFormat };
  };
  const tagsOf = async ({ organizationId, userId }: Tenant): Promise<{ key: string; value: TagValue }[]> => {
    const rows = await files.aggregate<{ _id: { key: string; value: TagValue } }>([
      { $match: { organizationId, userId } },
      { $unwind: '$tags' },
      { $group: { _id: { key: '$tags.key', value: '$tags.value' } } },
      { $sort: { _id: 1 } },
      { $limit: MAX_TAGS },
    ]);
    return rows.map(({ _id }) => _id);
  };
  return {
    totals: ({ organizationId, userId }) =>
      totalsCache.get({ organizationId, userId }, null, () => sumOf({ organizationId, userId })),
    totalsOfAll: (organizationId) => sumOf({ organizationId }),
    uniqueTags: (tenant) => tagsCache.get(tenant, null, () => tagsOf(tenant)),
  };
}

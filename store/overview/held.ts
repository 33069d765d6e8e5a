import type { Model } from 'mongoose';

import type { SourceType } from '../../contract/sources/sources.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import { OPERATOR_INDEXES } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import { accountName } from './names.js';

/** A data source or scrape with so many missing files that nothing is deleted until an operator decides. */
export interface HeldRow {
  /** Whether `id` is the id of a data source, or the file id of a scrape. */
  readonly of: 'data_sources' | 'files';
  readonly id: number;
  readonly name: string | null;
  readonly source: SourceType;
  readonly customerId: string;
  readonly missing: number;
  /** Whether an operator approved the deletion, which the next sync then performs. */
  readonly isApproved: boolean;
}

const SOURCE_FIELDS = { type: 1, externalId: 1, customerId: 1, metadata: 1, deletionsApproved: 1 } as const;
const FILE_FIELDS = {
  ...({ source: 1, name: 1, externalUrl: 1, externalFileId: 1, customerId: 1 } as const),
  ...({ 'fileMetadata.deletions_held': 1, deletionsApproved: 1 } as const),
};

/** Lists held deletions of one organization: of data sources, then of scrapes; at most `limit` of each. */
export function createHeldOverview(dataSources: Model<DataSourceDoc>, files: Model<FileDoc>) {
  return async (organizationId: number, limit: number): Promise<HeldRow[]> => {
    const [sources, scrapes] = await Promise.all([
      dataSources
        .find({ organizationId, 'metadata.deletions_held': { $gt: 0 } }, SOURCE_FIELDS)
        .limit(limit)
        .lean(),
      files
        .find({ organizationId, isContainer: true, 'fileMetadata.deletions_held': { $gt: 0 } }, FILE_FIELDS)
        .hint(OPERATOR_INDEXES.held.keys)
        .limit(limit)
        .lean<FileDoc[]>(),
    ]);
    return [
      ...sources.map((source) => ({
        ...({ of: 'data_sources', id: source._id, name: accountName(source), source: source.type } as const),
        customerId: source.customerId,
        missing: Number(source.metadata['deletions_held']),
        isApproved: source.deletionsApproved === true,
      })),
      ...scrapes.map((file) => ({
        ...({ of: 'files', id: file._id, source: file.source, customerId: file.customerId } as const),
        name: file.name ?? file.externalUrl ?? file.externalFileId,
        missing: Number(file.fileMetadata['deletions_held']),
        isApproved: file.deletionsApproved === true,
      })),
    ];
  };
}

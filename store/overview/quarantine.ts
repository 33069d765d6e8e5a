import type { Model } from 'mongoose';

import type { SourceType } from '../../contract/sources/sources.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { FileDoc } from '../models/files.js';
import { OVERVIEW_INDEX, type QuarantinedDoc } from '../models/quarantine.js';
import { accountName } from './names.js';

/** Files in quarantine of one data source, or of one scrape. */
export interface QuarantineRow {
  readonly of: 'data_source_id' | 'parent_id';
  /** Null for files with neither a data source nor a container. */
  readonly id: number | null;
  readonly name: string | null;
  readonly source: SourceType | null;
  readonly customerId: string | null;
  readonly files: number;
  /** Times at which the first and the last file of the row may be erased permanently. */
  readonly firstErasedAt: Date;
  readonly lastErasedAt: Date;
}

export interface QuarantineOverview {
  readonly files: number;
  /** The rows whose files are erased first. */
  readonly rows: readonly QuarantineRow[];
  /** Total number of rows. */
  readonly groups: number;
}

/** Time limit of the sum over an organization, in milliseconds. */
const MAX_MS = 10_000;
interface Group {
  readonly _id: { readonly dataSourceId: number | null; readonly parentId: number | null };
  readonly files: number;
  readonly firstErasedAt: Date;
  readonly lastErasedAt: Date;
}

/** Counts the restorable files of one organization by data source or scrape, from the index only. */
export function createQuarantineOverview(
  quarantined: Model<QuarantinedDoc>,
  dataSources: Model<DataSourceDoc>,
  files: Model<FileDoc>,
) {
  return async (organizationId: number, limit: number): Promise<QuarantineOverview> => {
    const groups = await quarantined
      .aggregate<Group>([
        { $match: { organizationId, state: { $in: ['leaving', 'kept'] }, keptUntil: { $gt: new Date() } } },
        {
          $group: {
            // Group pages by their scrape, and files of an account only by their data source.
            _id: {
              dataSourceId: '$dataSourceId',
              parentId: { $cond: [{ $gt: ['$dataSourceId', 0] }, null, '$parentId'] },
            },
            files: { $sum: 1 },
            firstErasedAt: { $min: '$keptUntil' },
            lastErasedAt: { $max: '$keptUntil' },
          },
        },
        { $sort: { firstErasedAt: 1 } },
      ])
      .hint(OVERVIEW_INDEX)
      .option({ maxTimeMS: MAX_MS });
    const shown = groups.slice(0, limit);
    const [sources, parents] = await Promise.all([
      dataSources
        .find(
          { organizationId, _id: { $in: shown.flatMap(({ _id }) => _id.dataSourceId ?? []) } },
          { type: 1, externalId: 1, customerId: 1 },
        )
        .lean(),
      files
        .find(
          { organizationId, _id: { $in: shown.flatMap(({ _id }) => _id.parentId ?? []) } },
          { source: 1, name: 1, externalUrl: 1, externalFileId: 1, customerId: 1 },
        )
        .lean(),
    ]);
    return {
      files: groups.reduce((sum, group) => sum + group.files, 0),
      groups: groups.length,
      rows: shown.map(({ _id: { dataSourceId, parentId }, ...group }) => {
        const source = sources.find((row) => row._id === dataSourceId);
        const parent = parents.find((row) => row._id === parentId);
        return {
          ...group,
          of: dataSourceId === null ? ('parent_id' as const) : ('data_source_id' as const),
          id: dataSourceId ?? parentId,
          name: source ? accountName(source) : (parent?.name ?? parent?.externalUrl ?? parent?.externalFileId ?? null),
          source: source?.type ?? parent?.source ?? null,
          customerId: source?.customerId ?? parent?.customerId ?? null,
        };
      }),
    };
  };
}

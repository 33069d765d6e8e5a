import type { Model } from 'mongoose';

import { isWarning, type ItemCause, WARNING_CAUSES } from '../../contract/runs/ledger.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import { OPERATOR_INDEXES } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';

/** Maximum number of files counted per cause. Larger numbers are reported as this maximum. */
export const MAX_FAILURES_COUNTED = 10_000;

/** The owner of failed files: an organization, or one of its data sources. */
export interface FailureScope {
  readonly organizationId: number;
  readonly dataSourceId?: number;
}

export type FailedFile = Pick<
  FileDoc,
  | '_id'
  | 'name'
  | 'source'
  | 'customerId'
  | 'userId'
  | 'externalUrl'
  | 'externalFileId'
  | 'dataSourceId'
  | 'runId'
  | 'workflowId'
  | 'syncErrorMessage'
  | 'updatedAt'
> & {
  /** Only its warnings are read. */
  readonly fileMetadata?: FileDoc['fileMetadata'];
};

/** Files that failed for one reason. */
export interface FailureGroup {
  /** Cause from the ledger; null if none was stored. */
  readonly cause: ItemCause | null;
  /** Number of files, at most MAX_FAILURES_COUNTED. */
  readonly files: number;
  readonly latest: FailedFile;
}

/** Failed and waiting files, and those with a warning, for operators. */
export interface FileFailures {
  /** Counts files of a data source that wait for the end of a rate limit, at most `limit`. */
  waitingForLimit(source: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>, limit: number): Promise<number>;
  /** Returns the largest groups first. Reads one index entry per counted file, and one file per group. */
  byCause(scope: FailureScope, limit: number): Promise<FailureGroup[]>;
  /** Returns the warnings of READY files of an organization, each with the number of files. */
  byWarning(scope: Pick<FailureScope, 'organizationId'>): Promise<FailureGroup[]>;
  /**
   * Returns the latest files that failed for a cause or, if the cause is a warning, the latest READY files with this
   * warning. For the cause null, returns failed files without a stored cause.
   */
  failed(
    scope: FailureScope,
    page: { readonly cause: ItemCause | null; readonly offset: number; readonly limit: number },
  ): Promise<FailedFile[]>;
}

const FIELDS = {
  ...({ _id: 1, name: 1, source: 1, customerId: 1, userId: 1, externalUrl: 1, externalFileId: 1 } as const),
  ...({ dataSourceId: 1, runId: 1, workflowId: 1, syncErrorMessage: 1, updatedAt: 1 } as const),
  'fileMetadata.warnings': 1,
} as const;
const CAUSE = 'ended.cause';

export function createFileFailures(files: Model<FileDoc>): FileFailures {
  const query = ({ organizationId, dataSourceId }: FailureScope) => ({
    organizationId,
    ...(dataSourceId === undefined ? {} : { dataSourceId }),
    syncStatus: 'SYNC_ERROR' as const,
  });
  const indexOf = ({ dataSourceId }: FailureScope) =>
    dataSourceId === undefined ? OPERATOR_INDEXES.failed.keys : OPERATOR_INDEXES.failedOfSource.keys;
  const warned = ({ organizationId }: Pick<FailureScope, 'organizationId'>, cause: ItemCause) => ({
    organizationId,
    syncStatus: 'READY' as const,
    'fileMetadata.warnings.cause': cause,
  });
  const failed: FileFailures['failed'] = (scope, { cause, offset, limit }) =>
    files
      .find(isWarning(cause) ? warned(scope, cause) : { ...query(scope), [CAUSE]: cause }, FIELDS)
      .sort({ updatedAt: -1, _id: -1 })
      .hint(isWarning(cause) ? OPERATOR_INDEXES.warned.keys : indexOf(scope))
      .skip(offset)
      .limit(limit)
      .lean()
      .exec();
  return {
    waitingForLimit: ({ _id: dataSourceId, organizationId, userId }, limit) =>
      files.countDocuments({ organizationId, userId, dataSourceId, syncStatus: 'RATE_LIMITED' }).limit(limit).exec(),
    async byCause(scope, limit) {
      const hint = indexOf(scope);
      // Sorted, so that MongoDB skips through the index from one cause to the next.
      const causes = await files
        .aggregate<{ _id: ItemCause | null }>([
          { $match: query(scope) },
          { $sort: { [CAUSE]: 1 } },
          { $group: { _id: `$${CAUSE}` } },
        ])
        .hint(hint);
      const counted = await Promise.all(
        [...new Set([...causes.map(({ _id }) => _id), null])].map(async (cause) => ({
          cause,
          files: await files
            .countDocuments({ ...query(scope), [CAUSE]: cause })
            .hint(hint)
            .limit(MAX_FAILURES_COUNTED),
        })),
      );
      const largest = counted.toSorted((a, b) => b.files - a.files).slice(0, limit);
      const groups = await Promise.all(
        largest.map(async (group) => {
          const [latest] = await failed(scope, { cause: group.cause, offset: 0, limit: 1 });
          return latest ? [{ ...group, latest }] : [];
        }),
      );
      return groups.flat();
    },
    async byWarning(scope) {
      const groups = await Promise.all(
        WARNING_CAUSES.map(async (cause) => {
          const [[latest], number] = await Promise.all([
            failed(scope, { cause, offset: 0, limit: 1 }),
            files.countDocuments(warned(scope, cause)).hint(OPERATOR_INDEXES.warned.keys).limit(MAX_FAILURES_COUNTED),
          ]);
          return latest ? [{ cause, files: number, latest }] : [];
        }),
      );
      return groups.flat();
    },
    failed,
  };
}

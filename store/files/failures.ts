import type { Model } from 'mongoose';

import type { DataSourceDoc } from '../dataSources/model.js';
import type { FileDoc } from './model.js';

/** The latest failures that are looked at: sums over more are of no use to whoever mends them. */
const MOST_LOOKED_AT = 10_000;
/** Different sentences that are told apart. */
const MOST_SENTENCES = 1_000;

/** Whose failed files: all of an organization, or those of one of its data sources. */
export interface FailureScope {
  readonly organizationId: number;
  readonly dataSourceId?: number;
}

/** Files that failed for one reason. */
export interface FailureGroup {
  /** The reason without what is different from file to file: groups are told apart by it. */
  readonly cause: string;
  /** As the latest of them has it. */
  readonly sentence: string;
  readonly files: number;
  /** Of the latest one. */
  readonly fileId: number;
  readonly latestAt: Date;
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
  | 'syncErrorMessage'
  | 'updatedAt'
>;

/** What failed, or waits, for whoever looks after it. */
export interface FileFailures {
  /** Files of a data source that wait until its source takes requests again; counted up to a limit. */
  waitingForLimit(source: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>, limit: number): Promise<number>;
  /** The largest groups first. */
  byCause(scope: FailureScope, limit: number): Promise<FailureGroup[]>;
  /** The latest that failed, of one cause where one is named; before a time and id, to page on. */
  failed(
    scope: FailureScope,
    page: { readonly cause: string | null; readonly offset: number; readonly limit: number },
  ): Promise<FailedFile[]>;
}

const FIELDS = [
  ...(['_id', 'name', 'source', 'customerId', 'userId', 'externalUrl', 'externalFileId'] as const),
  ...(['dataSourceId', 'runId', 'syncErrorMessage', 'updatedAt'] as const),
];

/** What differs from file to file in one and the same reason: addresses, what is quoted, numbers, times. */
const DIFFERENT = /https?:\/\/\S+|"[^"]*"|“[^”]*”|\d{4}-\d\d-\d\dT[\d:.]+Z|\d[\d,.]*\d|\d/g;

/** The reason that a sentence tells, without what is different from file to file. A status stays: it is the reason. */
export const causeOf = (sentence: string): string =>
  sentence.replaceAll(DIFFERENT, (part, at: number) => (sentence.slice(0, at).endsWith('HTTP ') ? part : '…'));

export function createFileFailures(files: Model<FileDoc>): FileFailures {
  const query = ({ organizationId, dataSourceId }: FailureScope) => ({
    organizationId,
    ...(dataSourceId === undefined ? {} : { dataSourceId }),
    syncStatus: 'SYNC_ERROR' as const,
  });
  /** Sentences of the latest failures, with what is counted of each. */
  const sentences = (scope: FailureScope) =>
    files.aggregate<{ _id: string | null; files: number; fileId: number; latestAt: Date }>([
      { $match: query(scope) },
      { $sort: { updatedAt: -1 } },
      { $limit: MOST_LOOKED_AT },
      {
        $group: {
          _id: '$syncErrorMessage',
          files: { $sum: 1 },
          fileId: { $first: '$_id' },
          latestAt: { $first: '$updatedAt' },
        },
      },
      { $sort: { files: -1 } },
      { $limit: MOST_SENTENCES },
    ]);
  return {
    waitingForLimit: ({ _id: dataSourceId, organizationId, userId }, limit) =>
      files.countDocuments({ organizationId, userId, dataSourceId, syncStatus: 'RATE_LIMITED' }).limit(limit).exec(),
    async byCause(scope, limit) {
      const groups = new Map<string, FailureGroup>();
      for (const { _id, files: number, fileId, latestAt } of await sentences(scope)) {
        const sentence = _id ?? '';
        const cause = causeOf(sentence);
        const known = groups.get(cause);
        const latest = known && known.latestAt > latestAt ? known : { sentence, fileId, latestAt };
        groups.set(cause, {
          cause,
          files: (known?.files ?? 0) + number,
          ...{ sentence: latest.sentence, fileId: latest.fileId, latestAt: latest.latestAt },
        });
      }
      return [...groups.values()].toSorted((a, b) => b.files - a.files).slice(0, limit);
    },
    async failed(scope, { cause, offset, limit }) {
      const said =
        cause === null
          ? {}
          : {
              syncErrorMessage: {
                $in: (await sentences(scope)).flatMap(({ _id }) => (causeOf(_id ?? '') === cause ? [_id] : [])),
              },
            };
      return files
        .find({ ...query(scope), ...said }, Object.fromEntries(FIELDS.map((field) => [field, 1])))
        .sort({ updatedAt: -1, _id: -1 })
        .skip(offset)
        .limit(limit)
        .lean<FailedFile[]>();
    },
  };
}

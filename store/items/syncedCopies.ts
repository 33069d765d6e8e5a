import { isDeepStrictEqual } from 'node:util';
import type { Model } from 'mongoose';

import { sourcesOfFiles } from '../../contract/sources/connectedSources.js';
import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { FileDoc } from '../models/files.js';

/**
 * Finds the files of items that were synced before with exactly these options.
 * @returns the files by the external ids of their items
 */
export async function findSyncedFiles(
  files: Model<FileDoc>,
  { _id, organizationId, userId, type }: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId' | 'type'>,
  externalIds: readonly string[],
  options: IngestOptions,
): Promise<Map<string, FileDoc>> {
  const rows = await files
    .find({
      organizationId,
      userId,
      source: { $in: [...sourcesOfFiles(type)] },
      externalFileId: { $in: [...externalIds] },
      accountId: _id,
      syncStatus: 'READY',
      generation: { $gt: 0 },
    })
    .lean();
  // The options as MongoDB stores them: unset fields are absent.
  const expected: unknown = JSON.parse(JSON.stringify(options));
  return new Map(
    rows
      .filter((file) => isDeepStrictEqual(JSON.parse(JSON.stringify(file.options)), expected))
      .map((file) => [file.externalFileId, file]),
  );
}

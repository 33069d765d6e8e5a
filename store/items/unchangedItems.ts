import type { Model } from 'mongoose';

import type { DataSourceDoc } from '../models/dataSources.js';
import type { FileDoc } from '../models/files.js';
import type { ItemDoc } from '../models/items.js';

/** Items per query. */
const AT_ONCE = 1_000;

/**
 * Returns the external ids of items that are not containers and have a READY file with the listed version of their
 * content. A container is never returned: its own version does not show whether its contents have changed.
 */
export async function unchangedItems(
  items: Model<ItemDoc>,
  files: Model<FileDoc>,
  { _id: dataSourceId, organizationId, userId }: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>,
  externalIds: readonly string[],
): Promise<Set<string>> {
  const unchanged = new Set<string>();
  for (let from = 0; from < externalIds.length; from += AT_ONCE) {
    const externalId = { $in: externalIds.slice(from, from + AT_ONCE) };
    const leaves = {
      ...{ organizationId, userId, dataSourceId, externalId },
      ...{ isExpandable: false, version: { $type: 'string' as const } },
    };
    const listed = await items.find(leaves, { externalId: 1, version: 1, source: 1 }).lean();
    const versions = new Map(listed.map((item) => [item.externalId, item.version]));
    const source = { $in: [...new Set(listed.map((item) => item.source))] };
    const syncedFiles = await files
      .find(
        {
          organizationId,
          userId,
          source,
          externalFileId: { $in: [...versions.keys()] },
          dataSourceId,
          syncStatus: 'READY',
        },
        { externalFileId: 1, version: 1 },
      )
      .lean();
    for (const { externalFileId, version } of syncedFiles)
      if (version && version === versions.get(externalFileId)) unchanged.add(externalFileId);
  }
  return unchanged;
}

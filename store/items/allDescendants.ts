import type { Model } from 'mongoose';

import type { DataSourceDoc } from '../models/dataSources.js';
import type { ItemDoc } from '../models/items.js';

/** Maximum items per page. */
const PAGE_SIZE = 1_000;

/** Yields the external ids of the given items and of all their stored descendants, in pages. */
export async function* allDescendants(
  items: Model<ItemDoc>,
  { _id: dataSourceId, organizationId, userId }: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>,
  externalIds: readonly string[],
): AsyncIterable<string[]> {
  const seen = new Set<string>();
  let pending = [...externalIds];
  while (pending.length > 0) {
    const page = pending.slice(0, PAGE_SIZE);
    pending = pending.slice(PAGE_SIZE);
    // A cycle is an error of the source; each item is visited once.
    for (const id of page) seen.add(id);
    yield page;
    const children = await items
      .find({ organizationId, userId, dataSourceId, parentExternalId: { $in: page } }, { externalId: 1 })
      .lean();
    pending.push(...children.map(({ externalId }) => externalId).filter((id) => !seen.has(id)));
  }
}

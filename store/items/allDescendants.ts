import type { Model } from 'mongoose';

import type { DataSourceDoc } from '../models/dataSources.js';
import type { ItemDoc } from '../models/items.js';

/** Page size. */
const AT_ONCE = 1_000;

/** Yields some items of a data source and all their known descendants, by their ids, in pages. */
export async function* allDescendants(
  items: Model<ItemDoc>,
  { _id: dataSourceId, organizationId, userId }: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>,
  externalIds: readonly string[],
): AsyncIterable<string[]> {
  const seen = new Set<string>();
  let open = [...externalIds];
  while (open.length > 0) {
    const some = open.slice(0, AT_ONCE);
    open = open.slice(AT_ONCE);
    // A cycle is an error of the source; each item is visited once.
    for (const id of some) seen.add(id);
    yield some;
    const below = await items
      .find({ organizationId, userId, dataSourceId, parentExternalId: { $in: some } }, { externalId: 1 })
      .lean();
    open.push(...below.map(({ externalId }) => externalId).filter((id) => !seen.has(id)));
  }
}

/** The baseline of `bench:lists`: the same pages and totals through the MongoDB driver alone. */
import type mongoose from 'mongoose';

import type { FileOrder } from '../contract/files/fileFilters.js';
import { fileQuery } from '../store/files/filter.js';
import { ORDER_FIELDS } from '../store/models/fileIndexes.js';
import type { Tenant } from '../store/users/accept.js';
import { type ListCase, OFFSET, PAGE } from './listCases.js';

/** Reads one page and its total. */
export async function queryByDriver(
  connection: mongoose.Connection,
  tenant: Tenant,
  { of, filters }: ListCase,
  order: FileOrder,
  direction: 1 | -1,
): Promise<void> {
  const files = connection.collection('files');
  const query = fileQuery(tenant, filters) as never;
  const sort = { [ORDER_FIELDS[order]]: direction, _id: direction } as const;
  if (of === 'files') {
    await Promise.all([files.find(query).sort(sort).skip(OFFSET).limit(PAGE).toArray(), files.countDocuments(query)]);
    return;
  }
  const total = files
    .aggregate([{ $match: query }, { $group: { _id: null, chunks: { $sum: '$numChunks' } } }])
    .toArray();
  await Promise.all([total, readChunkPage(connection, tenant, query, sort)]);
}

/** Reads the segments of one page of chunks. */
async function readChunkPage(
  connection: mongoose.Connection,
  tenant: Tenant,
  query: never,
  sort: Record<string, 1 | -1>,
): Promise<void> {
  let skip = OFFSET;
  let wanted = PAGE;
  const projection = { generation: 1, numChunks: 1 };
  const cursor = connection.collection('files').find(query, { projection, batchSize: 200 }).sort(sort);
  for await (const file of cursor) {
    const {
      _id: fileId,
      numChunks,
      generation,
    } = file as unknown as Record<'_id' | 'numChunks' | 'generation', number>;
    if (skip >= numChunks) {
      skip -= numChunks;
      continue;
    }
    await connection
      .collection('segments')
      .find({ ...tenant, fileId, generation })
      .toArray();
    wanted -= numChunks - skip;
    skip = 0;
    if (wanted <= 0) break;
  }
  await cursor.close();
}

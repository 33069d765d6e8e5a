import type { ChunkRecord } from '../../contract/files/records.js';
import type { ChunkRow } from '../../store/chunks/queries.js';
import type { Store } from '../../store/connect.js';
import type { Tenant } from '../../store/users/accept.js';
import { presentChunk } from '../presenters/chunk.js';

/** Returns the vectors of chunks by chunk key. Makes one call per vector space. */
async function vectorsOf(
  tenant: Tenant,
  rows: readonly ChunkRow[],
  { vectors }: Pick<Store, 'vectors'>,
): Promise<Map<string, number[]>> {
  const spaces = new Map<string, ChunkRow[]>();
  for (const row of rows) {
    if (row.vectorSpace !== null) spaces.set(row.vectorSpace, [...(spaces.get(row.vectorSpace) ?? []), row]);
  }
  const vectorMaps = await Promise.all([...spaces].map(([space, keys]) => vectors.retrieve(tenant, space, keys)));
  return new Map(vectorMaps.flatMap((map) => [...map]));
}

/** Converts stored chunks to the API's response format, optionally with their vectors. */
export async function* chunkRows(
  tenant: Tenant,
  parts: AsyncIterable<readonly ChunkRow[]>,
  includeVectors: boolean,
  store: Pick<Store, 'vectors'>,
): AsyncIterable<ChunkRecord[]> {
  for await (const part of parts) {
    const vectors = includeVectors ? await vectorsOf(tenant, part, store) : null;
    yield part.map((row) => presentChunk(row, vectors?.get(row.key) ?? null));
  }
}

import Joi from 'joi';

import type { ChunkRow } from '../../store/chunks/queries.js';
import type { Store } from '../../store/connect.js';
import { ListAnswer, operation } from '../http/operation.js';
import { presentChunk } from '../presenters/chunk.js';
import { chunkRecord, listOf } from '../schemas/answers.js';
import { fileFilters, type FileListingBody, fileOrder, pagination, toListing } from '../schemas/listing.js';

interface Body extends FileListingBody {
  include_vectors: boolean;
}

/** The vectors of some rows, read in one call a space. */
async function vectorsOf(rows: readonly ChunkRow[], { vectors }: Store): Promise<Map<string, number[]>> {
  const spaces = new Map<string, ChunkRow[]>();
  for (const row of rows) {
    if (row.vectorSpace !== null) spaces.set(row.vectorSpace, [...(spaces.get(row.vectorSpace) ?? []), row]);
  }
  const found = await Promise.all([...spaces].map(([space, keys]) => vectors.retrieve(space, keys)));
  return new Map(found.flatMap((map) => [...map]));
}

/** POST /list_chunks_and_embeddings: the chunks of all files that match, in the order of their files. */
export const listChunks = operation<'user', Body>({
  method: 'post',
  path: '/list_chunks_and_embeddings',
  auth: 'user',
  summary: 'Lists the chunks, and on request the vectors, of matching files.',
  body: Joi.object({
    filters: fileFilters().required(),
    ...fileOrder(),
    pagination: pagination(),
    include_vectors: Joi.boolean().default(false),
  }),
  answer: listOf(chunkRecord),
  async handle({ caller, body, deps: { store } }) {
    const { page, ...listing } = toListing(body);
    const count = await store.files.countChunks(caller, listing.filters, page.startingId);
    const parts = store.chunks.page(
      caller,
      store.files.contents(caller, listing, page.startingId),
      page.offset,
      page.limit,
    );
    async function* rows() {
      for await (const part of parts) {
        const vectors = body.include_vectors ? await vectorsOf(part, store) : null;
        yield part.map((row) => presentChunk(row, vectors?.get(row.key) ?? null));
      }
    }
    return new ListAnswer(count, rows());
  },
});

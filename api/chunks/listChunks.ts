import Joi from 'joi';

import { ListAnswer, operation } from '../http/operation.js';
import { chunkRecord, listOf } from '../schemas/answers.js';
import { fileFilters, listingFields, toListing } from '../schemas/listing.js';
import { chunkRows } from './chunkRows.js';
import { named } from '../schemas/reference.js';

/** POST /list_chunks_and_embeddings: lists the chunks of all matching files, in the order of their files. */
export const listChunks = operation({
  method: 'post',
  path: '/list_chunks_and_embeddings',
  operationId: 'retrieve_embeddings_and_content_v2_list_chunks_and_embeddings_post',
  tag: 'Embeddings',
  auth: 'reader',
  summary: 'Lists chunks, and their vectors on request, of matching files',
  description: [
    'Returns the chunks of all files that match the filters, in the order of the files and then of `chunk_index`. Use it to export texts and vectors, or to check how a file was split.',
    '`limit` and `offset` count chunks; `starting_id` and `order_by` refer to files. The answer is streamed, so a page may have 10,000 chunks. For one file, `POST /text_chunks` is simpler.',
    'Chunks of files in cold storage are listed with `embedding: null`.',
  ],
  returns: 'A page of chunks, and the number of all chunks of the matching files.',
  errors: { 404: null },
  body: named(
    'EmbeddingsAndChunksQueryInputV2',
    Joi.object({
      ...listingFields(fileFilters().required()),
      include_vectors: Joi.boolean()
        .default(false)
        .description('`true`: return the vector of each chunk. Answers become several times larger.'),
    }).description(
      'Filters, order and page of a list of chunks. Filters, order and `starting_id` refer to their files.',
    ),
  ),
  answer: listOf('EmbeddingsAndChunksResponse', chunkRecord),
  handle({ caller, body, deps: { store } }) {
    const listing = toListing(body);
    const { startingId, offset, limit } = listing.page;
    const count = store.files.countChunks(caller, listing.filters, startingId);
    const parts = store.chunks.page(caller, store.files.contents(caller, listing), offset, limit);
    return Promise.resolve(new ListAnswer(count, chunkRows(parts, body.include_vectors, store)));
  },
});

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
  summary: 'List chunks of files',
  description: [
    'Lists the stored chunks of all files that match the filters, in the order of their files and, within a file, by `chunk_index`. Use it to export chunks, and with `include_vectors` their vectors. `limit` and `offset` count chunks. With `starting_id`, only files with a larger id match. `count` is the number of chunks of all matching files. A page has at most 10,000 chunks.',
  ],
  returns: 'One page of chunks, in the order of their files, and the number of all that match.',
  body: named(
    'EmbeddingsAndChunksQueryInputV2',
    Joi.object({
      ...listingFields(fileFilters().required()),
      include_vectors: Joi.boolean()
        .default(false)
        .description('`true`: each chunk has its vector in `embedding`. Vectors in cold storage are null.'),
    }).description(
      'Filters of the files whose chunks are listed, the order and page of the list, and whether it includes vectors.',
    ),
  ),
  answer: listOf('EmbeddingsAndChunksResponse', chunkRecord, 'chunks'),
  handle({ caller, body, deps: { store } }) {
    const listing = toListing(body);
    const { startingId, offset, limit } = listing.page;
    const count = store.files.countChunks(caller, listing.filters, startingId);
    const parts = store.chunks.page(caller, store.files.contents(caller, listing), offset, limit);
    return Promise.resolve(new ListAnswer(count, chunkRows(caller, parts, body.include_vectors, store)));
  },
});

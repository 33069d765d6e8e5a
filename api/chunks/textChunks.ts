import Joi from 'joi';

import type { ChunkRow } from '../../store/chunks/queries.js';
import type { Store } from '../../store/connect.js';
import type { FileContent } from '../../store/files/queries.js';
import type { Tenant } from '../../store/users/accept.js';
import { notFound } from '../http/errors.js';
import { ListAnswer, operation } from '../http/operation.js';
import { chunkRecord, listOf } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { pagination, toPage } from '../schemas/listing.js';
import { chunkRows } from './chunkRows.js';
import { named } from '../schemas/reference.js';
import { embeddingModel, orderDirection } from '../schemas/enums.js';

/** Number of chunks that are read at once from the end of a file. */
const CHUNKS_PER_READ = 250;

async function* single(file: FileContent): AsyncIterable<FileContent> {
  yield await Promise.resolve(file);
}

/** Streams a page of a file's chunks in reverse order. */
async function* fromTheEnd(
  tenant: Tenant,
  file: FileContent,
  { offset, limit }: { offset: number; limit: number },
  { chunks }: Pick<Store, 'chunks'>,
): AsyncIterable<ChunkRow[]> {
  const lowest = Math.max(0, file.numChunks - offset - limit);
  for (let to = file.numChunks - offset; to > lowest;) {
    const from = Math.max(lowest, to - CHUNKS_PER_READ);
    // Sequential: chunks are read only when the response needs them, so that memory stays bounded.
    const rows: ChunkRow[] = [];
    for await (const part of chunks.page(tenant, single(file), from, to - from)) rows.push(...part);
    yield rows.toReversed();
    to = from;
  }
}

/**
 * POST /text_chunks: lists the chunks of one file. They are created together, so every `order_by` gives the order of
 * their numbers.
 */
export const textChunks = operation({
  method: 'post',
  path: '/text_chunks',
  operationId: 'retrieve_embeddings_and_content_text_chunks_post',
  tag: 'Embeddings',
  auth: 'reader',
  summary: 'List chunks of a file',
  description: [
    'Lists the stored chunks of one file by `chunk_index`, and with `include_vectors` their vectors. Use it to show how a file was split. All chunks of a file are created together, so every `order_by` gives the same order. The list is empty if the file has no chunks, or was embedded with another model than the filter `embedding_model`. An unknown file returns 404.',
  ],
  returns: 'One page of the chunks of the file, and the number of all its chunks.',
  body: named(
    'EmbeddingsAndChunksQueryInput',
    Joi.object({
      filters: named(
        'EmbeddingsAndChunksFilters',
        Joi.object({
          user_file_id: integer()
            .required()
            .description(
              '`id` of the file whose chunks are listed, as `POST /user_files_v2` lists it. An unknown one returns 404.',
            ),
          embedding_model: orNull(embeddingModel()).description(
            'Lists chunks only if the file has this embedding model; otherwise the list is empty. Null: any model.',
          ),
        }).description('The file whose chunks are listed, and optionally the model with which they must be embedded.'),
      )
        .required()
        .description('Names the file by `user_file_id`, and optionally the model that its chunks must have.'),
      order_by: named(
        'EmbeddingsAndChunksOrderByColumns',
        Joi.string()
          .valid('created_at', 'updated_at', 'chunk_index')
          .description(
            'Orders that requests may name. All have the same effect: chunks are sorted by `chunk_index`, because all chunks of a file are created together.',
          ),
      )
        .default('updated_at')
        .description('Accepted for compatibility and without effect: chunks are always ordered by `chunk_index`.'),
      order_dir: orderDirection()
        .default('asc')
        .description('`asc`: from the first chunk of the file to the last one. `desc`: the last chunk first.'),
      pagination: pagination(),
      include_vectors: Joi.boolean()
        .default(false)
        .description('`true`: each chunk has its vector in `embedding`. Vectors in cold storage are null.'),
    }).description('The file whose chunks are listed, their order and page, and whether vectors are included.'),
  ),
  answer: listOf('EmbeddingsAndChunksResponse', chunkRecord, 'chunks'),
  async handle({ caller, body: { filters, order_dir: direction, ...body }, deps: { store } }) {
    const [file] = await store.files.byIds(caller, [filters.user_file_id]);
    if (!file) throw notFound('file');
    const page = toPage(body.pagination);
    const hasOtherModel =
      filters.embedding_model !== undefined && filters.embedding_model !== file.options.embeddingModel;
    const shown = hasOtherModel || file._id <= page.startingId ? { ...file, numChunks: 0 } : file;
    const parts =
      direction === 'desc'
        ? fromTheEnd(caller, shown, page, store)
        : store.chunks.page(caller, single(shown), page.offset, page.limit);
    return new ListAnswer(shown.numChunks, chunkRows(caller, parts, body.include_vectors, store));
  },
});

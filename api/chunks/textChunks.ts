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

async function* only(file: FileContent): AsyncIterable<FileContent> {
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
    // Sequential, so that the reader sets the pace.
    const rows: ChunkRow[] = [];
    for await (const part of chunks.page(tenant, only(file), from, to - from)) rows.push(...part);
    yield rows.toReversed();
    to = from;
  }
}

/**
 * POST /text_chunks: lists the chunks of one file. They are created together, so every order equals that of their
 * numbers.
 */
export const textChunks = operation({
  method: 'post',
  path: '/text_chunks',
  operationId: 'retrieve_embeddings_and_content_text_chunks_post',
  tag: 'Embeddings',
  auth: 'reader',
  summary: 'Lists chunks, and their vectors on request, of one file',
  description: [
    'Returns a page of the chunks of the file in `filters.user_file_id`, in the order of the text. Use it to show what a search can find in a file, or the neighbours of a chunk: set `offset` to its `chunk_index`.',
    'A file that was not synced yet has no chunks; a scrape as a whole has none either, its pages have.',
  ],
  returns: 'A page of chunks, and the number of all chunks of the file.',
  errors: { 404: 'The file does not exist, or belongs to another user.' },
  body: named(
    'EmbeddingsAndChunksQueryInput',
    Joi.object({
      filters: named(
        'EmbeddingsAndChunksFilters',
        Joi.object({
          user_file_id: integer().required().description('`id` of the file whose chunks to list.'),
          embedding_model: orNull(embeddingModel()).description(
            'Only if the file has this embedding model; otherwise the list is empty.',
          ),
        }).description('The file whose chunks to list.'),
      ).required(),
      order_by: named(
        'EmbeddingsAndChunksOrderByColumns',
        Joi.string()
          .valid('created_at', 'updated_at', 'chunk_index')
          .description(
            'Field to order by. All orders are those of `chunk_index`, because the chunks of a file have one time.',
          ),
      ).default('updated_at'),
      order_dir: orderDirection().default('asc'),
      pagination: pagination(),
      include_vectors: Joi.boolean()
        .default(false)
        .description('`true`: return the vector of each chunk. Answers become several times larger.'),
    }).description('File, order and page of a list of chunks.'),
  ),
  answer: listOf('EmbeddingsAndChunksResponse', chunkRecord),
  async handle({ caller, body: { filters, order_dir: direction, ...body }, deps: { store } }) {
    const [file] = await store.files.byIds(caller, [filters.user_file_id]);
    if (!file) throw notFound('file');
    const page = toPage(body.pagination);
    const other = filters.embedding_model !== undefined && filters.embedding_model !== file.options.embeddingModel;
    const shown = other || file._id <= page.startingId ? { ...file, numChunks: 0 } : file;
    const parts =
      direction === 'desc'
        ? fromTheEnd(caller, shown, page, store)
        : store.chunks.page(caller, only(shown), page.offset, page.limit);
    return new ListAnswer(shown.numChunks, chunkRows(parts, body.include_vectors, store));
  },
});

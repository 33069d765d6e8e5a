import Joi from 'joi';

import { DEFAULT_INGEST_OPTIONS, type IngestOptions } from '../../contract/files/ingestOptions.js';
import { integer, orNull } from './fields.js';
import type { Shape } from './inferred.js';
import { embeddingModel, MODEL_OF_FILES } from './enums.js';

const defaults = DEFAULT_INGEST_OPTIONS;

/**
 * Options of operations that create files from sites, feeds and connected accounts. The overlap must be smaller than the
 * chunk size.
 */
export const ingestFields = () => ({
  chunk_size: orNull(integer().min(1), defaults.chunkSize).description(
    'Maximum number of tokens (cl100k) of a chunk. Default 1500; null counts as absent.',
  ),
  // Only an overlap that the request contains can be invalid: the default is reduced for a small chunk_size.
  chunk_overlap: orNull(integer().min(0).less(Joi.ref('chunk_size')), defaults.chunkOverlap).description(
    'Maximum number of tokens that neighbouring chunks share. Default 20; null counts as absent. A value that is not below `chunk_size` returns 422; the default is reduced for a small `chunk_size`.',
  ),
  skip_embedding_generation: orNull(Joi.boolean(), defaults.skipEmbeddingGeneration).description(
    '`true`: make chunks without vectors. They can be listed, but searches do not find them. Null counts as absent.',
  ),
  // Not nullable in the public contract, but published front ends send null: see api/extensions.ts.
  embedding_model: orNull(embeddingModel(), defaults.embeddingModel).description(MODEL_OF_FILES),
  generate_sparse_vectors: orNull(Joi.boolean(), defaults.generateSparseVectors).description(
    '`true`: chunks also get sparse vectors, by which a search with `hybrid_search` ranks chunks by their words. It has no effect if `skip_embedding_generation` is `true`. Null counts as absent.',
  ),
  prepend_filename_to_chunks: orNull(Joi.boolean(), defaults.prependFilenameToChunks).description(
    '`true`: the text of each chunk begins with the name of its file. If the file has no name, its URL is used. A name longer than half of `chunk_size` is cut. Null counts as absent.',
  ),
});

/** Steps of an ingest that a caller can disable. */
export const stepFields = () => ({
  generate_chunks_only: Joi.boolean()
    .default(false)
    .description(
      '`true`: the file gets chunks without vectors, even if `skip_embedding_generation` is `false`. Searches do not find them.',
    ),
  store_file_only: Joi.boolean()
    .default(false)
    .description('`true`: store the fetched or uploaded content without extracting text or making chunks.'),
});

/** Body of an operation that creates files; not every operation has the optional steps. */
export type IngestBody = Shape<ReturnType<typeof ingestFields>> & Partial<Shape<ReturnType<typeof stepFields>>>;

/** Converts the options of a request to the internal form. */
export const toIngestOptions = (body: IngestBody): IngestOptions => ({
  ...defaults,
  chunkSize: body.chunk_size,
  chunkOverlap: Math.min(body.chunk_overlap, body.chunk_size - 1),
  embeddingModel: body.embedding_model,
  skipEmbeddingGeneration: body.skip_embedding_generation,
  generateSparseVectors: body.generate_sparse_vectors,
  prependFilenameToChunks: body.prepend_filename_to_chunks,
  generateChunksOnly: body.generate_chunks_only ?? false,
  storeFileOnly: body.store_file_only ?? false,
});

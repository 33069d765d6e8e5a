import Joi from 'joi';

import { operation } from '../http/operation.js';
import { integer, nullable } from '../schemas/fields.js';
import { named } from '../schemas/reference.js';
import { embeddingModel } from '../schemas/enums.js';

/** GET /models: lists the provider of each embedding model, and the vector space of new texts. */
export const models = operation({
  method: 'get',
  path: '/models',
  operationId: 'list_models',
  tag: 'Embedding Models',
  auth: 'key',
  summary: 'List embedding models',
  description: [
    'Lists every value of `embedding_model` with the provider that computes its vectors now, and their vector space: only vectors of the same space can be compared. Use it to choose `embedding_model`, and the size of a `query_vector`. If the operator has configured no provider, a small model that is part of the server serves all ids. Files stay in their vector space until they are synced or embedded again.',
  ],
  returns: 'Every accepted value of `embedding_model`, with its provider and vector space.',
  answer: named(
    'EmbeddingModels',
    Joi.object({
      results: Joi.array()
        .items(
          named(
            'EmbeddingModel',
            Joi.object({
              embedding_model: embeddingModel()
                .required()
                .description(
                  'Id that requests send as `embedding_model`. The operator may change the provider behind it.',
                ),
              provider: nullable(Joi.string())
                .required()
                .description(
                  'Service that computes the vectors for this id, such as `openai`. Null: the model that is built into this service.',
                ),
              upstream_model: Joi.string()
                .required()
                .description(
                  'Name of the model at `provider`, such as `text-embedding-3-small`, or of the built-in model.',
                ),
              served_by: Joi.string()
                .required()
                .description(
                  'Name of the vector space of new vectors, such as `openai-3-small-1536`. Only vectors of the same space can be compared. Files have it in `embedding_properties`.',
                ),
              dimensions: integer()
                .required()
                .description('Number of values in each vector, and in a `query_vector` for this model.'),
              window: integer()
                .required()
                .description(
                  'Maximum number of tokens that the model reads as one text. A longer text is split into parts, and its vector is the weighted mean of their vectors.',
                ),
              takes_images: Joi.boolean()
                .required()
                .description(
                  'Whether the model embeds pictures directly. Otherwise a picture is found only by text that OCR reads.',
                ),
            }).description(
              'Provider and vector space that an embedding model id has now. They change when the operator configures a provider.',
            ),
          ),
        )
        .required()
        .description('Every model id that requests accept, with the service behind it.'),
    }).description('Every embedding model id that this deployment accepts, with its provider and vector space.'),
  ),
  handle: async ({ deps: { embedder } }) => ({
    results: embedder.models().map(({ model, provider, upstream, space, window, takesImages }) => ({
      embedding_model: model,
      provider,
      upstream_model: upstream,
      served_by: space.name,
      dimensions: space.dimensions,
      window,
      takes_images: takesImages,
    })),
  }),
});

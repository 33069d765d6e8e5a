import Joi from 'joi';

import { EMBEDDING_MODEL_IDS } from '../../contract/embeddingModels.js';
import { operation } from '../http/operation.js';
import { integer, nullable } from '../schemas/fields.js';

/** GET /models: lists the provider of each embedding model, and the vector space of new texts. */
export const models = operation({
  method: 'get',
  path: '/models',
  operationId: 'list_models',
  tag: 'Embeddings',
  auth: 'key',
  summary: 'Tells what serves each embedding model.',
  description: '',
  answer: Joi.object({
    results: Joi.array()
      .items(
        Joi.object({
          embedding_model: Joi.string()
            .valid(...EMBEDDING_MODEL_IDS)
            .required(),
          provider: nullable(Joi.string()).required(),
          upstream_model: Joi.string().required(),
          served_by: Joi.string().required(),
          dimensions: integer().required(),
          window: integer().required(),
          takes_images: Joi.boolean().required(),
        }),
      )
      .required(),
  }),
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

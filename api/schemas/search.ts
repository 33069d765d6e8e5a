import Joi from 'joi';

import { RERANK_MODELS, type RerankModel } from '../../contract/vectors/rerankers.js';
import { numberList } from './numberList.js';
import { typed } from './inferred.js';
import { keywords, named } from './reference.js';

/** Tolerance for the sum of the two weights of a hybrid search, which must be 1. */
const TOLERANCE = 0.001;
/** Maximum dimensions of a vector: more than any model has. */
const MAX_DIMENSIONS = 16_384;

const weight = () => Joi.number().min(0).max(1).required();

/** Returns the schema of the weights: weight_a of vectors, weight_b of keywords. */
export const hybridWeights = () =>
  named(
    'HybridSearchTuningParams',
    Joi.object({
      weight_a: weight().description('Weight of the similarity of meaning, from 0 to 1. With 0, only words count.'),
      weight_b: weight().description('Weight of the match of words, from 0 to 1. With 0, only the meaning counts.'),
    })
      .description('Weights of both scores of a hybrid search. Their sum must be 1, within 0.001.')
      .custom((value: { weight_a: number; weight_b: number }, helpers) =>
        // Number.EPSILON covers rounding: 1 - 0.999 is slightly more than 0.001.
        Math.abs(value.weight_a + value.weight_b - 1) > TOLERANCE + Number.EPSILON
          ? helpers.message({ custom: '{{#label}} must have weights whose sum is 1, within 0.001' })
          : value,
      ),
  );

/** Returns the schema of a query vector as the engine accepts it: 32-bit floats that are not all 0. */
export const queryVector = () =>
  keywords(numberList().min(1).max(MAX_DIMENSIONS), { contains: { not: { const: 0 } } }).custom(
    (value: readonly number[], helpers) => {
      if (!value.every((element) => Number.isFinite(Math.fround(element))))
        return helpers.message({ custom: '{{#label}} has a number that is too large for a vector' });
      return value.some((element) => Math.fround(element) !== 0)
        ? value
        : helpers.message({ custom: '{{#label}} has no direction: all its numbers are 0' });
    },
  );

/**
 * Returns the schema of a reranker's name. It accepts only supported rerankers; the public contract allows any string.
 */
export const rerankModel = () =>
  typed<RerankModel>(
    Joi.string().custom((value: string, helpers) =>
      RERANK_MODELS.some((model) => model === value)
        ? value
        : helpers.error('any.only', { valids: [...RERANK_MODELS] }),
    ),
  );

import Joi from 'joi';

import { RERANK_MODELS, type RerankModel } from '../../contract/rerankers.js';
import { numberList } from './numberList.js';
import { typed } from './inferred.js';

/** By how much the two shares of a hybrid search may miss 1 together. */
const TOLERANCE = 0.001;
/** Numbers of a vector at most: more than any model's vectors have. */
const MAX_DIMENSIONS = 16_384;

const share = () => Joi.number().min(0).max(1).required();

/** weight_a is the share of meaning, weight_b that of words. */
export const hybridWeights = () =>
  Joi.object({ weight_a: share(), weight_b: share() }).custom(
    (value: { weight_a: number; weight_b: number }, helpers) =>
      // The last part is for sums that floats can't hold.
      Math.abs(value.weight_a + value.weight_b - 1) > TOLERANCE + Number.EPSILON
        ? helpers.message({ custom: '{{#label}} must have weights that make 1 together, give or take 0.001' })
        : value,
  );

/** A vector to search for: what the engine takes, floats of 32 bits that point somewhere. */
export const queryVector = () =>
  numberList()
    .min(1)
    .max(MAX_DIMENSIONS)
    .custom((value: readonly number[], helpers) => {
      if (!value.every((one) => Number.isFinite(Math.fround(one))))
        return helpers.message({ custom: '{{#label}} has a number that is too large for a vector' });
      return value.some((one) => Math.fround(one) !== 0)
        ? value
        : helpers.message({ custom: '{{#label}} points nowhere: all its numbers are 0' });
    });

/** The contract leaves the name open; these are the ones there are. */
export const rerankModel = () =>
  typed<RerankModel>(
    Joi.string().custom((value: string, helpers) =>
      RERANK_MODELS.some((model) => model === value)
        ? value
        : helpers.error('any.only', { valids: [...RERANK_MODELS] }),
    ),
  );

import Joi from 'joi';

import { named } from './reference.js';

/** Body of an error response. */
export const errorDetail = named(
  'ErrorResponse',
  Joi.object({
    detail: Joi.string()
      .required()
      .description('The error and what to do next, as a sentence for people. Its wording may change.'),
  }).description('Why a request was rejected, and what to do next.'),
);

const validationError = named(
  'ValidationError',
  Joi.object({
    loc: Joi.array()
      // A key of a body can be empty.
      .items(Joi.alternatives(Joi.string().allow(''), Joi.number().integer()))
      .required()
      .description(
        'Path of the field: first `body`, `query`, `path` or `header`, then the names of fields and the positions in lists.',
      ),
    msg: Joi.string().required().description('Error of the value, as a sentence for people. Its wording may change.'),
    type: Joi.string()
      .required()
      .description('Kind of the problem for programs, such as `missing`, `enum`, `int_type` or `too_long`.'),
  })
    .unknown()
    .description('One missing or invalid field of a request, with its path.'),
);

/** Body of a 422. */
export const validationErrors = named(
  'HTTPValidationError',
  Joi.object({
    detail: Joi.array()
      .items(validationError)
      .required()
      .description('All problems that were found; only the first one for a body with more than 10,000 values.'),
  }).description('Response to an invalid request: each missing or invalid field with its path.'),
);

import Joi from 'joi';

import { integer, nullable } from './fields.js';
import { named } from './reference.js';
import { embeddingModel } from './enums.js';

/** Why an item found by a dry run would create no file, or a file without content. */
export const SKIPPED_BY_DRY_RUN = ['already_synced', 'not_found', 'over_limit', 'robots_disallowed'] as const;
export type SkippedByDryRun = (typeof SKIPPED_BY_DRY_RUN)[number];

/** Response of an operation with dry_run: the estimated cost of a run. */
export const estimate = named(
  'DryRunEstimate',
  Joi.object({
    id: Joi.valid(null).required(),
    dry_run: Joi.valid(true).required(),
    embedding_model: embeddingModel().required(),
    files: integer().required(),
    bytes: nullable(integer()).required(),
    chunks: nullable(integer()).required(),
    tokens: nullable(integer()).required(),
    tokens_low: nullable(integer()).required(),
    tokens_high: nullable(integer()).required(),
    price: nullable(Joi.number()).required(),
    seconds: nullable(Joi.number()).required(),
    seconds_by: nullable(Joi.object({ runs: integer().required(), files: integer().required() })).required(),
    complete: Joi.boolean().required(),
    estimated: Joi.boolean().required(),
    sample: Joi.object({
      files: integer().required(),
      failed: integer().required(),
      bytes: integer().required(),
      chunks: integer().required(),
      known_chunks: nullable(integer()).required(),
      tokens: integer().required(),
    }).required(),
    skipped: Joi.object(Object.fromEntries(SKIPPED_BY_DRY_RUN.map((reason) => [reason, integer()]))).required(),
  }),
);

import Joi from 'joi';

import { integer, nullable } from './fields.js';
import { named } from './reference.js';
import { embeddingModel } from './enums.js';

/** Why an item that a dry run considered would create no file, or a file without content. */
export const SKIPPED_BY_DRY_RUN = ['already_synced', 'not_found', 'over_limit', 'robots_disallowed'] as const;
export type SkippedByDryRun = (typeof SKIPPED_BY_DRY_RUN)[number];

const SKIPPED: Readonly<Record<SkippedByDryRun, string>> = {
  already_synced: 'Number of items that `incremental_sync` skips because their files are `READY`.',
  not_found: 'Number of items that the request names, but that do not exist or are not accessible at their source.',
  over_limit:
    'Number of items beyond the limit `max_files_per_upload` of the user. For a crawl, number of links beyond this limit on the sampled pages.',
  robots_disallowed: 'Number of pages that may not be fetched according to the robots.txt of their site.',
};

const pace = named(
  'DryRunPace',
  Joi.object({
    runs: integer().required().description('Number of earlier runs whose speed was measured, at most 20.'),
    files: integer().required().description('Number of items that the measured runs processed in all.'),
  }).description('Earlier runs of the same kind. Their speed is the basis of the estimated duration.'),
);

const sample = named(
  'DryRunSample',
  Joi.object({
    files: integer()
      .required()
      .description('Number of items that were read, at most the server setting `DRY_RUN_SAMPLE_PAGES`.'),
    failed: integer()
      .required()
      .description('Number of sampled items that could not be read. The other items are assumed to fail as often.'),
    bytes: integer()
      .required()
      .description('Size in bytes of the contents that were read, from which the estimate extrapolates.'),
    chunks: integer()
      .required()
      .description('Number of chunks made of the sampled contents, from which the estimate extrapolates.'),
    known_chunks: nullable(integer())
      .required()
      .description(
        'Number of sampled chunks whose vectors are stored already and cost nothing. Null if more than 5,000 sampled chunks are to be embedded.',
      ),
    tokens: integer()
      .required()
      .description('Number of tokens (cl100k) in the sampled chunks, from which the estimate extrapolates.'),
  }).description('Counts of the items that a dry run has read, from which it extrapolates.'),
);

const skipped = named(
  'DryRunSkipped',
  Joi.object(
    Object.fromEntries(SKIPPED_BY_DRY_RUN.map((reason) => [reason, integer().description(SKIPPED[reason])])),
  ).description('Number of items that a run would not read, by reason.'),
);

/** Response of an operation with dry_run: the estimated cost of a run. */
export const estimate = named(
  'DryRunEstimate',
  Joi.object({
    // Generators of clients do not know a type that is only null.
    id: nullable(Joi.string()).required().description('Always null, because no run and no file was created.'),
    dry_run: Joi.valid(true).required().description('Always `true`: this is an estimate, and nothing was changed.'),
    embedding_model: embeddingModel()
      .required()
      .description('Embedding model of the request. Tokens and price are estimated for it.'),
    files: integer()
      .required()
      .description(
        'Number of pages or items that the run would read. If `complete` is `false`, the search for items ended early and this is a lower bound.',
      ),
    bytes: nullable(integer())
      .required()
      .description(
        'Size of all contents in bytes, extrapolated from the items that were read (`sample`). Null if only some ' +
          'items were tried and none could be read.',
      ),
    chunks: nullable(integer())
      .required()
      .description(
        'Number of chunks that the run would make, extrapolated from the items that were read (`sample`). Null if ' +
          'only some items were tried and none could be read.',
      ),
    tokens: nullable(integer())
      .required()
      .description(
        'Number of tokens (cl100k) that the run would embed, overlaps of chunks included, extrapolated from ' +
          '`sample`. The run may need fewer, because vectors of texts that were embedded before are reused. `0` if ' +
          'no vectors are requested; null if only some items were tried and none could be read.',
      ),
    tokens_low: nullable(integer())
      .required()
      .description(
        'Lower end of the 95 % interval of `tokens`, assuming that the other files are similar to the sample. Null ' +
          'only if `tokens` is null: a sample of one file has no spread, so the lower end is `tokens` itself.',
      ),
    tokens_high: nullable(integer())
      .required()
      .description(
        'Upper end of the 95 % interval of `tokens`. Null if not all files were found, or if only some were tried ' +
          'and fewer than two could be read.',
      ),
    price: nullable(Joi.number())
      .required()
      .description(
        'Price of `tokens`, in the currency in which the operator has written the server setting `EMBEDDING_PRICES`, ' +
          'such as `0.13`. Null if the setting has no price for the model, or if `tokens` is null.',
      ),
    seconds: nullable(Joi.number())
      .required()
      .description(
        'Expected duration in seconds, computed from the last 20 runs of the same kind and user that had no `max_tokens`. Null if there are none.',
      ),
    seconds_by: nullable(pace)
      .required()
      .description('Earlier runs on which `seconds` is based. Null if the user has none of the same kind.'),
    complete: Joi.boolean()
      .required()
      .description(
        '`true`: all items were found. `false`: there may be more, because the search reached its time limit (half of the server setting `DRY_RUN_TIMEOUT_S`) or the crawl is larger than its sample.',
      ),
    estimated: Joi.boolean()
      .required()
      .description(
        '`true`: the figures are extrapolated from a sample. `false`: every item was tried, so they are exact counts ' +
          'of those that could be read.',
      ),
    sample: sample
      .required()
      .description(
        'Items that were read for the estimate. OCR, recordings, attachments and pages that need a browser are not sampled.',
      ),
    skipped: skipped
      .required()
      .description(
        'Number of items that the dry run considered and that are not in `files`, by reason. Reasons without items are absent.',
      ),
  }).description('Estimated cost of a run, as `dry_run: true` returns it. The run itself was not started.'),
);

import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable, timestamp } from './fields.js';
import { named } from './reference.js';
import { sourceType } from './enums.js';

/**
 * `warn`: the checked part needs attention, does not work at the moment (such as during a rate limit), or could not be
 * checked. `bad`: it does not work until the problem is fixed.
 */
export const CHECK_STATUSES = ['ok', 'warn', 'bad'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

const status = () =>
  named(
    'CheckStatus',
    Joi.string()
      .valid(...CHECK_STATUSES)
      .description(
        '`ok`: works. `warn`: needs attention, does not work at the moment (such as during a rate limit), or could not be checked. `bad`: does not work until the problem is fixed.',
      ),
  );

export const diagnosisAnswer = named(
  'DataSourceDiagnosis',
  wholeRecord({
    data_source_id: integer().description('The connected account that was checked: `data_source_id` of the path.'),
    data_source_type: sourceType().description(
      'Service of the account, such as `GOOGLE_DRIVE`, as in the record of the data source.',
    ),
    status: status().description(
      'The worst `status` of its checks: `bad` if one is `bad`, otherwise `warn` if one is `warn`.',
    ),
    checks: Joi.array()
      .items(
        named(
          'DiagnosisCheck',
          wholeRecord({
            name: named(
              'DiagnosisPart',
              Joi.string()
                .valid('credential', 'scopes', 'limits', 'sample_item', 'schedule', 'last_failures')
                .description(
                  'Part of a connection: stored credentials, granted scopes, rate limits, an item read at the source, automatic sync, or failed files and runs.',
                ),
            ).description('Which part of the connection was checked, such as `credential` or `scopes`.'),
            status: status().description(
              'Result for this part: `ok`, `warn` or `bad`. `fix` says what to do, if anything.',
            ),
            message: Joi.string().description(
              'Result of the check, as a sentence for people. Programs use `status` and `details`.',
            ),
            fix: nullable(Joi.string()).description(
              'What to do, and who has to do it, or that no action is needed. Null if there is nothing to add.',
            ),
            details: Joi.object()
              .unknown()
              .description(
                'Values on which the result is based; `name` determines which exist. `cause` names the error of a failed check.',
              ),
          }).description('Result of checking one part of a connection, with the values on which it is based.'),
        ),
      )
      .description('Always six results, one for each part of the connection; `name` identifies the part.'),
    checked_at: timestamp().description(
      'Time (UTC) at which the diagnosis began. Results are not cached: each request checks again.',
    ),
    took_ms: integer().description(
      'Wall-clock time of the whole diagnosis in milliseconds. Parts are checked concurrently, so it is not the sum of their durations.',
    ),
  }).description('What works and what does not in the connection of an account, part by part.'),
);

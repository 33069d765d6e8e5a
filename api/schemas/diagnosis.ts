import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable, timestamp } from './fields.js';
import { named } from './reference.js';
import { sourceType } from './enums.js';

/** `warn`: the data source works, but needs attention. `bad`: it does not work until the problem is fixed. */
export const CHECK_STATUSES = ['ok', 'warn', 'bad'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

const status = () =>
  named(
    'CheckStatus',
    Joi.string()
      .valid(...CHECK_STATUSES)
      .description(
        '`ok`: works. `warn`: works, but needs attention, or ends without action. `bad`: does not work until the problem is fixed.',
      ),
  );

/** All six checked parts, always present. */
export const diagnosisAnswer = named(
  'DataSourceDiagnosis',
  wholeRecord({
    data_source_id: integer().description('The connected account that was checked.'),
    data_source_type: sourceType().description('Service of the account, such as `GOOGLE_DRIVE`.'),
    status: status().description('The worst result of its checks.'),
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
            status: status().description('Result for this part: `ok`, `warn` or `bad`.'),
            message: Joi.string().description('Result of the check, as a sentence for people.'),
            fix: nullable(Joi.string()).description('What to do, and who has to do it. Null if nothing is to be done.'),
            details: Joi.object()
              .unknown()
              .description(
                'Values on which the result is based; `name` determines which exist. `cause` names the error of a failed check.',
              ),
          }).description('Result of checking one part of a connection.'),
        ),
      )
      .description('Always six results, one for each part of the connection.'),
    checked_at: timestamp().description('When the diagnosis began.'),
    took_ms: integer().description('Duration of all checks in milliseconds.'),
  }).description('What works and what does not in the connection of an account, part by part.'),
);

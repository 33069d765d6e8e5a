import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable, timestamp } from './fields.js';
import { named } from './reference.js';
import { sourceType } from './enums.js';

/** `warn`: the data source works, but needs attention. `bad`: it does not work until the problem is fixed. */
export const CHECK_STATUSES = ['ok', 'warn', 'bad'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

const status = () => named('CheckStatus', Joi.string().valid(...CHECK_STATUSES));

/** All six checked parts, always present. */
export const diagnosisAnswer = named(
  'DataSourceDiagnosis',
  wholeRecord({
    data_source_id: integer(),
    data_source_type: sourceType(),
    /** The worst result of its checks. */
    status: status(),
    checks: Joi.array().items(
      named(
        'DiagnosisCheck',
        wholeRecord({
          name: Joi.string().valid('credential', 'scopes', 'limits', 'sample_item', 'schedule', 'last_failures'),
          status: status(),
          message: Joi.string(),
          fix: nullable(Joi.string()),
          details: Joi.object().unknown(),
        }),
      ),
    ),
    checked_at: timestamp(),
    took_ms: integer(),
  }),
);

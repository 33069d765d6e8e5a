import Joi from 'joi';

import { HttpError } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { readiness } from './readiness.js';
import { byName, integer } from '../schemas/fields.js';
import { named } from '../schemas/reference.js';

/** Retry-After in seconds. */
const RETRY_AFTER_S = 5;

const dependency = named(
  'DependencyCheck',
  Joi.object({
    ok: Joi.boolean()
      .required()
      .description(
        'Whether the dependency responds within 5 seconds and has no fault. Otherwise `hint` says what to do.',
      ),
    latency_ms: integer()
      .required()
      .description('Duration of the check in milliseconds. All checks run concurrently; each fails after 5,000.'),
    hint: Joi.string().description(
      'What failed and where to look, for the operator. Absent if the dependency is healthy.',
    ),
  }).description('Whether one dependency of the service works, and what to do if not.'),
);

/** GET /health: responds while the process runs. */
export const health = operation({
  method: 'get',
  path: '/health',
  operationId: 'get_health',
  tag: 'Health',
  auth: 'open',
  summary: 'Check that the process runs',
  description: [
    'Responds while the API process runs, without credentials. It does not check stores or workers, so use it as a liveness probe: a failure means that the process has to be restarted. `GET /ready` checks the dependencies.',
  ],
  returns: '`status` is `ok`: the process runs and answers requests.',
  answer: named(
    'Health',
    Joi.object({
      status: Joi.string().valid('ok').required().description('Always `ok` when the process responds.'),
    }).description('Answer of a process that can handle requests.'),
  ),
  handle: () => Promise.resolve({ status: 'ok' }),
});

/**
 * GET /ready: returns 200 while this process can serve requests, with reasons if a part of the service is degraded; 503
 * while MongoDB does not respond, or its records are newer than this process.
 */
export const ready = operation({
  method: 'get',
  path: '/ready',
  operationId: 'get_readiness',
  tag: 'Health',
  auth: 'open',
  summary: 'Check the dependencies',
  description: [
    'Checks MongoDB, the version of its records, Qdrant, Temporal, workers, stalled runs and free disk space, each for at most 5 seconds. Use it as a readiness probe. It returns 503 while MongoDB does not respond, or has records of a newer version, since no request would succeed. With other faults it returns 200 with `status: degraded`, because lists and uploads still work.',
  ],
  returns: 'The process serves requests; `reasons` names faults of other parts.',
  errors: { 503: 'MongoDB does not respond, or its records are newer than this process. `detail` says what to do.' },
  answer: named(
    'Readiness',
    Joi.object({
      status: Joi.string()
        .valid('ready', 'degraded')
        .required()
        .description(
          '`ready`: all checks passed. `degraded`: requests are served, but a check failed; `reasons` says which, and what to do.',
        ),
      reasons: Joi.array()
        .items(Joi.string())
        .required()
        .description('One sentence per fault, with what to do. Empty: no fault was found.'),
      checks: byName(dependency)
        .required()
        .description('Each check by name: `mongodb`, `schema`, `qdrant`, `temporal`, `worker`, `runs` and `disk`.'),
    }).description('Whether the service can work, with the result of each check.'),
  ),
  async handle({ deps }) {
    const checks = await readiness(deps);
    const reasons = Object.values(checks).flatMap(({ hint }) => (hint === undefined ? [] : [`${hint}.`]));
    if (!checks.mongodb.ok || !checks.schema.ok) throw new HttpError(503, reasons.join(' '), RETRY_AFTER_S);
    return { status: reasons.length === 0 ? 'ready' : 'degraded', reasons, checks };
  },
});

import Joi from 'joi';

import { HttpError } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { readiness } from './readiness.js';
import { named } from '../schemas/reference.js';

/** Retry-After in seconds. */
const RETRY_AFTER_S = 5;

/** GET /health: responds while the process runs. */
export const health = operation({
  method: 'get',
  path: '/health',
  operationId: 'get_health',
  tag: 'Health',
  auth: 'open',
  summary: 'Whether the API is alive.',
  description: [],
  answer: named('Health', Joi.object({ status: Joi.string().valid('ok').required() })),
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
  summary: 'Whether this process can serve, and what is out of order.',
  description: [],
  answer: named(
    'Readiness',
    Joi.object({
      status: Joi.string().valid('ready', 'degraded').required(),
      reasons: Joi.array().items(Joi.string()).required(),
      checks: Joi.object().unknown().required(),
    }),
  ),
  async handle({ deps }) {
    const checks = await readiness(deps);
    const reasons = Object.values(checks).flatMap(({ hint }) => (hint === undefined ? [] : [`${hint}.`]));
    if (!checks.mongodb.ok || !checks.schema.ok) throw new HttpError(503, reasons.join(' '), RETRY_AFTER_S);
    return { status: reasons.length === 0 ? 'ready' : 'degraded', reasons, checks };
  },
});

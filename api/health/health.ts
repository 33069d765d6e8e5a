import Joi from 'joi';

import { HttpError } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { readiness } from './readiness.js';

/** GET /health: the process answers. */
export const health = operation<'open', unknown>({
  method: 'get',
  path: '/health',
  auth: 'open',
  summary: 'Whether the API is alive.',
  answer: Joi.object({ status: Joi.string().valid('ok').required() }),
  handle: () => Promise.resolve({ status: 'ok' }),
});

/** GET /ready: everything that work needs answers, and a worker polls. 503 with the same body shape otherwise. */
export const ready = operation<'open', unknown>({
  method: 'get',
  path: '/ready',
  auth: 'open',
  summary: 'Whether every dependency answers and a worker polls.',
  answer: Joi.object({ status: Joi.string().valid('ready').required(), checks: Joi.object().unknown().required() }),
  async handle({ deps }) {
    const checks = await readiness(deps);
    const troubles = Object.values(checks).flatMap(({ hint }) => (hint === undefined ? [] : [hint]));
    if (troubles.length > 0) throw new HttpError(503, `${troubles.join('. ')}.`);
    return { status: 'ready', checks };
  },
});

import Joi from 'joi';

import { HttpError } from '../http/errors.js';
import { operation } from '../http/operation.js';

/** A dependency that answers slower than this counts as away. */
const CHECK_TIMEOUT_MS = 5_000;

export interface Check {
  readonly ok: boolean;
  readonly latency_ms: number;
  /** What to do, when it is not well. */
  readonly hint?: string;
}

async function check(hint: string, work: () => Promise<string | null | void>): Promise<Check> {
  const begun = performance.now();
  const outcome = await Promise.race([
    work().then(
      (trouble) => trouble ?? null,
      () => hint,
    ),
    new Promise<string>((resolve) => setTimeout(() => resolve(hint), CHECK_TIMEOUT_MS).unref()),
  ]);
  const latency_ms = Math.round(performance.now() - begun);
  return outcome === null ? { ok: true, latency_ms } : { ok: false, latency_ms, hint: outcome };
}

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
  async handle({ deps: { store, dispatcher } }) {
    const [mongodb, qdrant, temporal] = await Promise.all([
      check('MongoDB does not answer; see MONGODB_URI', () => store.pingMongo()),
      check('Qdrant does not answer; see QDRANT_URL', () => store.vectors.ping()),
      check('Temporal does not answer; see TEMPORAL_ADDRESS', async () => {
        const { pollers } = await dispatcher.ping();
        return pollers > 0 ? null : 'No worker polls the task queue; start one with npm run worker';
      }),
    ]);
    const checks = { mongodb, qdrant, temporal };
    const troubles = Object.values(checks).flatMap(({ hint }) => (hint === undefined ? [] : [hint]));
    if (troubles.length > 0) throw new HttpError(503, `${troubles.join('. ')}.`);
    return { status: 'ready', checks };
  },
});

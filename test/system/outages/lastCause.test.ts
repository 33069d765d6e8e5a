/**
 * Failures that operators see: a run keeps its last known cause, and a webhook is reported at its first refused
 * delivery.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Activities } from '../../../activities/index.js';
import type { Check } from '../../../cli/doctor/check.js';
import { findPort } from '../../../engines/ports.js';
import { cli } from '../../support/cli.js';
import { type ApiClient, apiClient, type TestUser } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

let service: TestService;
let user: TestUser;
let key: ApiClient;
/** A port without a listener. */
let closedPort: number;
let attempts = 0;

/** Returns activities whose step fails without a cause from its second attempt on, as after a crash of the worker. */
const dyingAtSecondAttempt = (activities: Activities): Activities => ({
  ...activities,
  async discoverPages(input) {
    attempts += 1;
    if (attempts === 1) return activities.discoverPages(input);
    const { ApplicationFailure } = await import('@temporalio/common');
    throw ApplicationFailure.nonRetryable('activity Heartbeat timeout');
  },
});

beforeAll(async () => {
  closedPort = await findPort('free');
  service = await startService(
    { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent', WEBHOOK_RETRY_DELAYS_S: '600' },
    { worker: false },
  );
  await service.startWorker(dyingAtSecondAttempt);
  user = await service.user('causes');
  key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
});
afterAll(() => service.close());

interface Run {
  readonly status: string;
  readonly message: string | null;
  readonly error: string | null;
}

test('keeps the cause of a run whose last attempt ends without one', async () => {
  const { id } = await user.scrape({ url: `http://127.0.0.1:${closedPort}/sitemap.xml` });
  const latest = async (): Promise<Run | undefined> =>
    (await key.get<{ results: Run[] }>(`/sync_runs?file_id=${id}`)).body.results[0];
  // The cause is shown between the attempts too.
  expect(await waitFor(latest, (run) => run?.error === 'unreachable')).toMatchObject({ status: 'running' });
  const file = await user.settled(id);
  const run = await waitFor(latest, (one) => one?.status === 'failed');
  expect(run).toMatchObject({ error: 'unreachable', message: expect.stringContaining('127.0.0.1 failed or broke') });
  expect([file.sync_status, file.sync_error_message]).toEqual(['SYNC_ERROR', run?.message]);
});

test('reports a webhook as failing at its first refused delivery, with the time of the next attempt', async () => {
  await key.post('/add_webhook', { url: `http://127.0.0.1:${closedPort}/hook` });
  await user.send({ name: 'knot.txt', content: 'The knot wades.' });
  const page = async (): Promise<string> =>
    (await fetch(`${service.url}/ops`, { headers: { authorization: `Bearer ${service.apiKey}` } })).text();
  const html = await waitFor(page, (text) => text.includes('refuses deliveries'));
  expect(html).toMatch(/failed once: .*Next attempt: 20\d\d-/);
  const { lines } = await cli({ ...service.env, PUBLIC_URL: service.url }, 'doctor', '--json');
  const checks = JSON.parse(lines.join('\n')) as Check[];
  expect(checks.find(({ name }) => name === 'webhooks')).toMatchObject({
    state: 'warn',
    found: expect.stringMatching(/failed once: .*Next attempt: /),
  });
  expect((await service.store.backlog()).failingWebhooks).toBe(1);
});

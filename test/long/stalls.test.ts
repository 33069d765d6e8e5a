/**
 * Freezes worker processes by SIGSTOP, or takes processor time from them: each fault is reported with its remedy.
 */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type SupervisedChild, superviseChild } from '../../scripts/child.js';
import { startSampleSite } from '../emulators/site.js';
import type { Site } from '../emulators/site.js';
import { type ApiClient, apiClient, type TestUser } from '../support/client.js';
import { type OnCall, onCall } from '../support/onCall.js';
import { opsPicture } from '../support/opsPicture.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';

/** Maximum time (ms) until a fault is reported, with the default STALL_AFTER_S. */
const REPORTED_WITHIN_MS = 90_000;
const PAGES = 600;
const FROZEN_AFTER_MS = 150_000;
const LOOPS = 4 * cpus().length;

interface Run {
  readonly status: string;
  readonly error: string | null;
  readonly message: string | null;
  readonly stalls: readonly { readonly cause: string }[];
}

let service: TestService;
let site: Site;
let siteOfSecondRun: Site;
let user: TestUser;
let key: ApiClient;
let signals: OnCall;
let worker: SupervisedChild;
let frozen = 0;
let loops: readonly number[] = [];

/**
 * Starts busy loops that are not children of this process: the worker does not report the processor time of its
 * parent's descendants as that of other programs. The loops end after some time even if this test does not stop them.
 */
const startLoops = (): number[] => {
  const loop = `${process.execPath} -e 'const end = Date.now() + 300000; while (Date.now() < end);' > /dev/null 2>&1 &`;
  const script = Array.from({ length: LOOPS }, () => `${loop} echo $!`).join('\n');
  return execFileSync('sh', ['-c', script])
    .toString()
    .trim()
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 1);
};
const endLoops = (): void => {
  for (const pid of loops) process.kill(pid, 'SIGKILL');
  loops = [];
};

beforeAll(async () => {
  site = await startSampleSite(PAGES, 4);
  siteOfSecondRun = await startSampleSite(PAGES / 3, 4);
  service = await startService(
    { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent', COMPUTE_NICENESS: '5' },
    { worker: false },
  );
  worker = await superviseChild({
    ...{ module: 'worker/main', env: service.env, compile: false, frozenAfterMs: FROZEN_AFTER_MS },
    onFrozen: () => (frozen += 1),
  });
  user = await service.user('nora');
  key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  signals = onCall(service);
});
afterAll(async () => {
  endLoops();
  await worker.stop();
  await service.close();
  await Promise.all([site.close(), siteOfSecondRun.close()]);
});

test('reports a worker starved by other programs within 90 s, while its run continues', async () => {
  await user.scrape({ url: site.url('/sitemap.xml') });
  const begun = Date.now();
  loops = startLoops();
  const problem = 'gets too little processor time';
  expect(await waitFor(signals.reasons, (reasons) => reasons.includes(problem))).toContain('degraded: ');
  expect(Date.now() - begun).toBeLessThan(REPORTED_WITHIN_MS);
  expect(await waitFor(signals.opsPage, (page) => page.includes(problem))).toContain('Stop them');
  expect(await waitFor(signals.failedChecks, (checks) => checks.includes(problem))).toContain('Stop them');
  await opsPicture(service, 'starved');
  endLoops();
});

test('reports a frozen worker within 90 s, kills it, and replaces it with one that ends the run', async () => {
  const { id } = await user.scrape({ url: siteOfSecondRun.url('/sitemap.xml') });
  await waitFor(
    () => user.children(id),
    (children) => children.some(({ sync_status }) => sync_status === 'READY'),
  );
  const begun = Date.now();
  process.kill(worker.pid() ?? 0, 'SIGSTOP');
  const latest = async (): Promise<Run | undefined> =>
    (await key.get<{ results: Run[] }>(`/sync_runs?file_id=${id}`)).body.results[0];
  const run = await waitFor(latest, (one) => one?.status === 'stalled');
  expect(run).toMatchObject({ error: 'worker_silent', message: expect.stringContaining('Restart it') });
  expect(await signals.reasons()).toContain('degraded: ');
  expect(await waitFor(signals.opsPage, (page) => page.includes('stalled'))).toContain('has sent no heartbeat');
  expect(await signals.failedChecks()).toContain('has sent no heartbeat');
  expect(Date.now() - begun).toBeLessThan(REPORTED_WITHIN_MS);
  await opsPicture(service, 'frozen');

  await waitFor(latest, (one) => one?.status === 'running', 2 * FROZEN_AFTER_MS);
  expect(frozen).toBe(1);
  expect((await user.settled(id, 600_000)).sync_status).toBe('READY');
  expect((await latest())?.stalls).toMatchObject([{ cause: 'worker_silent' }]);
}, 900_000);

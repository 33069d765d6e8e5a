/** Runs that make no progress are reported with their cause in every view. */
import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { Check } from '../../../cli/doctor/check.js';
import { NO_TRACING } from '../../../observability/tracing.js';
import { traceSinks } from '../../../worker/traces.js';
import { type HeldSite, startHeldSite } from '../../emulators/heldSite.js';
import { cli } from '../../support/cli.js';
import { type ApiClient, apiClient, type TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/mongo.js';
import { testEngines } from '../../support/engines.js';
import { opsPicture } from '../../support/opsPicture.js';
import { loadProduct } from '../../support/product.js';
import { quietTemporal } from '../../support/quietTemporal.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { startTcpGate, type TcpGate } from '../../support/tcpGate.js';

const BUNDLE = new URL('../../../dist/workflow-bundle.js', import.meta.url);

interface Run {
  readonly id: number;
  readonly status: string;
  readonly message: string | null;
  readonly error: string | null;
  readonly stalled_since: string | null;
  readonly stalls: { readonly cause: string }[];
}
interface Ready {
  readonly status: string;
  readonly reasons: readonly string[];
}

let service: TestService;
let site: HeldSite;
let qdrant: TcpGate;
let user: TestUser;
let key: ApiClient;

beforeAll(async () => {
  site = await startHeldSite(3);
  qdrant = await startTcpGate(Number(new URL(testEngines().qdrantUrl).port));
  service = await startService(
    {
      ...{ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', STALL_AFTER_S: '2', LOG_LEVEL: 'silent' },
      QDRANT_URL: `http://127.0.0.1:${qdrant.port}`,
    },
    { worker: false },
  );
  user = await service.user('nora');
  key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
});
afterAll(async () => {
  site.release();
  await service.close();
  await Promise.all([site.close(), qdrant.shut()]);
});

const objectOf = (cause: string): unknown => expect.objectContaining({ cause });
const runs = async (query = ''): Promise<Run[]> => {
  const { status, body } = await key.get<{ results: Run[] }>(`/sync_runs${query}`);
  expect(status).toBe(200);
  return body.results;
};
const stalledBy = (cause: string): Promise<Run[]> =>
  waitFor(
    () => runs('?statuses=stalled'),
    (found) => found[0]?.error === cause,
  );
const ready = async (): Promise<Ready> => {
  const { status, body } = await key.get<Ready>('/ready');
  expect(status).toBe(200);
  return body;
};
const opsPage = async (): Promise<string> => {
  const answer = await fetch(`${service.url}/ops`, { headers: { authorization: `Bearer ${service.apiKey}` } });
  return answer.text();
};
/** Returns the checks of doctor with these names that are not ok. */
const doctor = async (...names: string[]): Promise<(Check | undefined)[]> => {
  const { lines } = await cli({ ...service.env, PUBLIC_URL: service.url }, 'doctor', '--json');
  const checks = JSON.parse(lines.join('\n')) as Check[];
  return names.map((name) => checks.find((check) => check.name === name && check.state !== 'ok'));
};

/**
 * Starts a worker whose workflow code throws, as when it replays the history of another version. Returns a function
 * that stops it.
 */
async function startBrokenWorker(): Promise<() => Promise<void>> {
  await quietTemporal('ERROR');
  const { NativeConnection, Worker } = (await loadProduct()).sdk;
  const connection = await NativeConnection.connect({ address: testEngines().temporalAddress });
  const code = readFileSync(BUNDLE, 'utf8').replace(
    'async function scrapeSitemap(input) {',
    "async function scrapeSitemap(input) { throw new Error('plan.batches is not iterable');",
  );
  const worker = await Worker.create({
    ...{ connection, namespace: 'default', taskQueue: service.names.taskQueue },
    workflowBundle: { code },
    sinks: traceSinks(NO_TRACING),
  });
  const running = worker.run();
  const self = { id: randomUUID(), host: 'broken', pid: 1 };
  const load = { lagMs: 0, waitShare: null, waited: null, othersShare: null };
  const beating = setInterval(() => void service.store.workers.recordHeartbeat(self, load), 1_000);
  let isStopped = false;
  return async () => {
    if (isStopped) return;
    isStopped = true;
    clearInterval(beating);
    worker.shutdown();
    await running;
    await connection.close();
    await service.store.workers.remove(self.id);
  };
}

describe('a run that no worker takes', () => {
  let file: number;
  let stopBroken = async (): Promise<void> => undefined;
  afterAll(() => stopBroken());

  test('is stalled in /sync_runs, /ready, /ops, doctor and backlog(), with the command that helps', async () => {
    file = (await user.scrape({ url: site.url('/sitemap.xml') })).id;
    const [run] = await stalledBy('no_worker');
    expect(run?.message).toContain('npm run worker');
    expect(Date.parse(run?.stalled_since ?? '')).toBeGreaterThan(0);
    expect(await runs('?statuses=running&statuses=queued')).toEqual([]);

    const { status, reasons } = await ready();
    expect(status).toBe('degraded');
    expect(reasons.join(' ')).toContain('1 run is stalled: no worker is running. Start one: npm run worker');
    expect(await waitFor(opsPage, (page) => page.includes('1 run is stalled'))).toContain('npm run worker');
    expect(await doctor('stalled runs')).toMatchObject([
      {
        state: 'bad',
        found: expect.stringContaining('No worker is running'),
        fix: expect.stringContaining('npm run worker'),
      },
    ]);
    expect(await service.store.backlog()).toMatchObject({
      stalled: [{ cause: 'no_worker', runs: 1 }],
      workers: { alive: 0, starved: 0, silent: 0 },
    });
  });

  test('is stalled by a worker that was killed or froze, and sends no heartbeat', async () => {
    const self = { id: randomUUID(), host: 'frozen-host', pid: 4711 };
    await service.store.workers.recordHeartbeat(self, { lagMs: 0, waitShare: null, waited: null, othersShare: null });
    await withDatabase(service, (connection) =>
      connection.collection('workers').updateOne({}, { $set: { heartbeatAt: new Date(Date.now() - 70_000) } }),
    );
    const [run] = await stalledBy('worker_silent');
    expect(run?.message).toMatch(/Worker 4711 on frozen-host has sent no heartbeat for 7\d s.*Restart it/);
    expect(run?.stalls.map(({ cause }) => cause)).toEqual(['no_worker']);
    expect((await ready()).reasons.join(' ')).toContain('Worker 4711 on frozen-host');
    expect((await doctor('worker'))[0]?.found).toContain('Worker 4711 on frozen-host');
    await service.store.workers.remove(self.id);
  });

  test('is stalled by its failing workflow tasks, with their error', async () => {
    stopBroken = await startBrokenWorker();
    const [run] = await stalledBy('workflow_task_fails');
    expect(run?.message).toContain('plan.batches is not iterable');
    expect((await ready()).reasons.join(' ')).toContain('workflow tasks fail repeatedly');
    // Readiness is public, so it does not contain the error of one organization.
    expect((await ready()).reasons.join(' ')).not.toContain('plan.batches');
    expect(await waitFor(opsPage, (page) => page.includes('plan.batches'))).toContain(
      'Run the same version of all workers',
    );
    expect((await doctor('stalled runs'))[0]?.found).toContain('plan.batches is not iterable');
    await opsPicture(service, 'workflow-tasks');
  });

  test('runs again with a good worker, and is not stalled by a slow site', async () => {
    await stopBroken();
    await service.startWorker();
    await waitFor(
      () => user.children(file),
      (children) => children.some(({ sync_status }) => sync_status === 'READY'),
    );
    // Longer than STALL_AFTER_S, with several iterations of the diagnosis.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const [run] = await runs();
    expect([run?.status, run?.error, run?.stalled_since]).toEqual(['running', null, null]);
    const past = ['no_worker', 'worker_silent', 'workflow_task_fails'];
    expect(run?.stalls.map(({ cause }) => cause)).toEqual(expect.arrayContaining(past));
    expect((await ready()).status).toBe('ready');
    site.release();
    expect((await user.settled(file)).sync_status).toBe('READY');
  });
});

test('reports a run that needs Qdrant as stalled while Qdrant is down', async () => {
  await qdrant.shut();
  const { id } = await user.send({ name: 'dunlin.txt', content: 'The dunlin probes the mud.' });
  const [run] = await stalledBy('qdrant_down');
  expect(run?.message).toContain('QDRANT_URL');
  const { status, reasons } = await ready();
  expect(status).toBe('degraded');
  expect(reasons.join(' ')).toContain('Qdrant does not answer');
  expect(await waitFor(opsPage, (page) => page.includes('1 run is stalled'))).toContain('see QDRANT_URL');
  await opsPicture(service, 'qdrant');

  // `npm start` writes this record for an embedded engine that does not start.
  const since = new Date().toISOString();
  const down = { since, cause: 'Traceback', how: 'ended with code 1', isDiskFull: false, attempts: 2 };
  const stateFile = path.join(service.env['DATA_DIR'] ?? '', 'engines.json');
  await writeFile(stateFile, JSON.stringify({ engines: [{ name: 'qdrant', pid: 1, down }] }));
  const problem = `The embedded Qdrant has been down since ${since.slice(0, 19).replace('T', ' ')} UTC: it ended with code 1, 2 failed starts since.`;
  expect((await ready()).reasons).toContainEqual(expect.stringContaining(`${problem} npm start tries again`));
  const alerts = (html: string): string => /<div id="part-alerts".*?<\/div>/s.exec(html)?.[0] ?? '';
  const page = await waitFor(opsPage, (html) => alerts(html).includes(problem));
  expect(alerts(page).split('<p class="alert')).toEqual([
    expect.anything(),
    expect.stringMatching(/^ bad" role="status">1 run is stalled since .*The embedded Qdrant has been down/),
  ]);
  expect(page).toContain('<span class="badge bad">qdrant</span>');
  expect(page).not.toContain('Traceback');
  expect(await doctor('stalled runs', 'Qdrant')).toMatchObject([
    { found: expect.stringContaining('Qdrant failed its check') },
    { found: expect.stringContaining('Last cause: Traceback') },
  ]);
  await rm(stateFile);

  await qdrant.open();
  expect((await user.settled(id)).sync_status).toBe('READY');
  expect(await waitFor(runs, ([latest]) => latest?.status === 'finished')).toMatchObject([
    { status: 'finished', error: null, stalls: expect.arrayContaining([objectOf('qdrant_down')]) },
    {},
  ]);
});

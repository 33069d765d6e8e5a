import { afterAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';

import type { Backlog } from '../../observability/backlog.js';
import { createBacklogGauges } from '../../observability/backlog.js';
import { createMetrics } from '../../observability/metrics.js';
import { createMetricsPage, type MetricsServer, serveMetrics } from '../../observability/metricsPage.js';
import { seriesOf } from '../support/scrape.js';

const TOKEN = 'token-of-the-deployment';
const opened: MetricsServer[] = [];
const open = async (token: string | null) => {
  const metrics = createMetrics({ ofProcess: true });
  const server = await serveMetrics(createMetricsPage(metrics, token), 0, '127.0.0.1');
  opened.push(server);
  const request = (path: string, options: RequestInit = {}) => fetch(`http://127.0.0.1:${server.port}${path}`, options);
  return { metrics, request };
};
afterAll(async () => void (await Promise.all(opened.map((server) => server.close()))));

test('two sets of metrics in one process are independent, including the default metrics', async () => {
  const [first, second] = [createMetrics({ ofProcess: true }), createMetrics({ ofProcess: true })];
  first.filesEnded('READY', 3);
  second.filesEnded('READY', 1);
  const READY = 'allotrope_files_ended_total{status="READY"}';
  expect(seriesOf((await first.scrape()).text)[READY]).toBe(3);
  expect(seriesOf((await second.scrape()).text)[READY]).toBe(1);
  expect(seriesOf((await first.scrape()).text)['process_resident_memory_bytes']).toBeGreaterThan(1_000_000);
});

test('exports no process metrics with ofProcess false', async () => {
  expect((await createMetrics({ ofProcess: false }).scrape()).text).not.toMatch(/^(process|nodejs)_/m);
});

test('counts a request whose caller disconnected as aborted', async () => {
  const metrics = createMetrics({ ofProcess: false });
  metrics.answered({ method: 'GET', route: '/files', status: null, seconds: 7 });
  const series = seriesOf((await metrics.scrape()).text);
  expect(series['allotrope_http_requests_total{method="GET",route="/files",status="aborted"}']).toBe(1);
  const bucket = (le: string) =>
    series[`allotrope_http_request_duration_seconds_bucket{le="${le}",method="GET",route="/files"}`];
  expect([bucket('5'), bucket('10')]).toEqual([0, 1]);
});

describe('the metrics port', () => {
  test('serves metrics in the text format of Prometheus', async () => {
    const { metrics, request } = await open(null);
    metrics.embedded({ space: 's', purpose: 'document', outcome: 'reused', texts: 2, tokens: 30 });
    const answer = await request('/metrics?name=x');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(seriesOf(await answer.text())).toMatchObject({
      'allotrope_embedding_texts_total{space="s",purpose="document",outcome="reused"}': 2,
      'allotrope_embedding_tokens_total{space="s",outcome="reused"}': 30,
    });
  });

  test('serves nothing else', async () => {
    const { request } = await open(null);
    expect((await request('/')).status).toBe(404);
    expect((await request('/metrics', { method: 'POST' })).status).toBe(405);
  });

  test.each([undefined, '', 'Bearer', 'Bearer wrong', `Token ${TOKEN}`, TOKEN, `Bearer ${TOKEN}x`])(
    'rejects the authorization %s if there is a token',
    async (authorization) => {
      const { request } = await open(TOKEN);
      const answer = await request('/metrics', { headers: authorization === undefined ? {} : { authorization } });
      expect(answer.status).toBe(401);
      expect(await answer.text()).not.toMatch(/allotrope_|token-of/);
    },
  );

  test('accepts its token', async () => {
    const { request } = await open(TOKEN);
    expect((await request('/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
  });

  test('reports a port in use', async () => {
    await open(null);
    const page = createMetricsPage(createMetrics({ ofProcess: false }), null);
    await expect(serveMetrics(page, opened.at(-1)?.port ?? 0, '127.0.0.1')).rejects.toThrow('EADDRINUSE');
  });
});

describe('backlog gauges of the whole service', () => {
  const figures = (ready: number): Backlog => ({
    files: { READY: ready },
    runs:
      ready === 1 ? [{ kind: 'syncUpload', state: 'waiting', count: 3, oldestAt: new Date(Date.now() - 60_000) }] : [],
    deliveries: { waiting: 2, oldestAt: new Date(Date.now() - 5_000) },
    stalled: [{ cause: 'no_worker', runs: 2 }],
    workers: { alive: 1 },
    failingWebhooks: 1,
    unnumberedEventAt: null,
  });
  const gaugesOf = (read: () => Promise<Backlog>) => {
    const registry = new Registry();
    let ms = 0;
    const gauges = createBacklogGauges(registry, read, () => ms);
    const at = async (later: number) => {
      ms += later;
      await gauges.refresh();
      return seriesOf(await registry.metrics());
    };
    return { at, advance: (took: number) => void (ms += took) };
  };

  test('show the result of the last read, without series that no longer exist', async () => {
    let reads = 0;
    const { at } = gaugesOf(() => Promise.resolve(figures((reads += 1))));
    const first = await at(0);
    expect(first).toMatchObject({
      'allotrope_files{status="READY"}': 1,
      'allotrope_runs{kind="syncUpload",state="waiting"}': 3,
      allotrope_webhook_deliveries_waiting: 2,
      allotrope_events_unread_age_seconds: 0,
      allotrope_backlog_up: 1,
    });
    expect(first['allotrope_oldest_run_age_seconds{kind="syncUpload",state="waiting"}']).toBeCloseTo(60, 0);
    expect(first['allotrope_webhook_lag_seconds']).toBeCloseTo(5, 0);
    expect((await at(9_000))['allotrope_files{status="READY"}']).toBe(1);
    const later = await at(2_000);
    expect(later['allotrope_files{status="READY"}']).toBe(2);
    expect(Object.keys(later).filter((name) => name.startsWith('allotrope_runs'))).toEqual([]);
  });

  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const NOTHING: Backlog = {
    ...{ files: { READY: 0 }, runs: [], stalled: [], workers: {}, failingWebhooks: 0, unnumberedEventAt: null },
    deliveries: { waiting: 0, oldestAt: null },
  };
  const busy = (): Backlog => ({
    files: { READY: 3, SYNCING: 4 },
    runs: [
      { kind: 'syncUpload', state: 'waiting', count: 5, oldestAt: ago(60) },
      { kind: 'deleteFiles', state: 'held', count: 6, oldestAt: ago(70) },
    ],
    deliveries: { waiting: 7, oldestAt: ago(80) },
    stalled: [{ cause: 'no_worker', runs: 8 }],
    workers: { alive: 9, silent: 10 },
    failingWebhooks: 11,
    unnumberedEventAt: ago(90),
  });

  test('show each figure of the backlog, and ages in seconds', async () => {
    const series = await gaugesOf(() => Promise.resolve(busy())).at(0);
    const rounded = Object.entries(series).map(([name, value]) => [name, Math.round(value)]);
    expect(Object.fromEntries(rounded)).toEqual({
      'allotrope_files{status="READY"}': 3,
      'allotrope_files{status="SYNCING"}': 4,
      'allotrope_runs{kind="syncUpload",state="waiting"}': 5,
      'allotrope_runs{kind="deleteFiles",state="held"}': 6,
      'allotrope_oldest_run_age_seconds{kind="syncUpload",state="waiting"}': expect.closeTo(60, -1),
      'allotrope_oldest_run_age_seconds{kind="deleteFiles",state="held"}': expect.closeTo(70, -1),
      allotrope_webhook_deliveries_waiting: 7,
      allotrope_webhook_lag_seconds: expect.closeTo(80, -1),
      allotrope_events_unread_age_seconds: expect.closeTo(90, -1),
      'allotrope_stalled_runs{cause="no_worker"}': 8,
      'allotrope_workers{state="alive"}': 9,
      'allotrope_workers{state="silent"}': 10,
      allotrope_webhooks_failing: 11,
      allotrope_backlog_up: 1,
      allotrope_backlog_read_seconds: 0,
    });
  });

  test('have no series of an earlier read: each read replaces them, and a failed read removes them', async () => {
    const answers = [busy(), NOTHING, busy(), null, NOTHING];
    const read = () => {
      const answer = answers.shift();
      return answer ? Promise.resolve(answer) : Promise.reject(new Error('unavailable'));
    };
    const { at: later } = gaugesOf(read);
    const reads = [];
    for (let nth = 0; nth < 5; nth += 1) reads.push(await later(11_000));
    const never = await gaugesOf(() => Promise.resolve(NOTHING)).at(0);
    expect([reads[1], reads[4]]).toEqual([never, never]);
    // After a failed read only the metrics about the read itself remain.
    expect(reads[3]).toEqual({ allotrope_backlog_up: 0, allotrope_backlog_read_seconds: 0 });
  });

  test('are read at most every ten seconds, and once for concurrent requests', async () => {
    let reads = 0;
    const { at: later } = gaugesOf(() => Promise.resolve(figures((reads += 1))));
    await Promise.all([later(0), later(0), later(0)]);
    expect(reads).toBe(1);
    await later(9_999);
    expect(reads).toBe(1);
    await later(1);
    expect(reads).toBe(2);
  });

  test('are read less often if a read takes long', async () => {
    let reads = 0;
    const { at, advance } = gaugesOf(() => {
      reads += 1;
      advance(2_000);
      return Promise.resolve(figures(reads));
    });
    await at(0);
    await at(90_000);
    expect(reads).toBe(1);
    expect((await at(11_000))['allotrope_backlog_read_seconds']).toBe(2);
    expect(reads).toBe(2);
  });

  test('are read again within a minute of a read that failed after a long time', async () => {
    let fails = true;
    const { at, advance } = gaugesOf(() => {
      if (!fails) return Promise.resolve(figures(1));
      advance(10_000);
      return Promise.reject(new Error('unavailable'));
    });
    await at(0);
    fails = false;
    expect((await at(59_999))['allotrope_backlog_up']).toBe(0);
    expect((await at(1))['allotrope_backlog_up']).toBe(1);
  });

  test('are missing if they cannot be read, and allotrope_backlog_up is 0', async () => {
    let fails = false;
    const { at } = gaugesOf(() => (fails ? Promise.reject(new Error('unavailable')) : Promise.resolve(figures(1))));
    await at(0);
    fails = true;
    const series = await at(20_000);
    expect(series['allotrope_backlog_up']).toBe(0);
    expect(Object.keys(series)).not.toContain('allotrope_webhook_lag_seconds');
    expect(Object.keys(series).filter((name) => name.startsWith('allotrope_files'))).toEqual([]);
  });
});

test('appends metrics of another source, and omits them if they are unavailable', async () => {
  const metrics = createMetrics({ ofProcess: false });
  metrics.filesEnded('READY', 1);
  const pageWithSdk = createMetricsPage(metrics, null, () => Promise.resolve('sdk_things 3\n'));
  expect(seriesOf((await pageWithSdk.read(undefined)).text)).toMatchObject({
    sdk_things: 3,
    'allotrope_files_ended_total{status="READY"}': 1,
  });
  const alone = await createMetricsPage(metrics, null, () => Promise.reject(new Error('unavailable'))).read(undefined);
  expect([alone.status, seriesOf(alone.text)['allotrope_files_ended_total{status="READY"}']]).toEqual([200, 1]);
});

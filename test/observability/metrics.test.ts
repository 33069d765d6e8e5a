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
  const ask = (path: string, options: RequestInit = {}) => fetch(`http://127.0.0.1:${server.port}${path}`, options);
  return { metrics, ask };
};
afterAll(async () => void (await Promise.all(opened.map((one) => one.close()))));

test('two sets of metrics in one process share nothing, their default ones included', async () => {
  const [one, other] = [createMetrics({ ofProcess: true }), createMetrics({ ofProcess: true })];
  one.filesEnded('READY', 3);
  other.filesEnded('READY', 1);
  const READY = 'allotrope_files_ended_total{status="READY"}';
  expect(seriesOf((await one.scrape()).text)[READY]).toBe(3);
  expect(seriesOf((await other.scrape()).text)[READY]).toBe(1);
  expect(seriesOf((await one.scrape()).text)['process_resident_memory_bytes']).toBeGreaterThan(1_000_000);
});

test('without measures of the process there are none', async () => {
  expect((await createMetrics({ ofProcess: false }).scrape()).text).not.toMatch(/^(process|nodejs)_/m);
});

test('a request whose caller went away is counted as such', async () => {
  const metrics = createMetrics({ ofProcess: false });
  metrics.answered({ method: 'GET', route: '/files', status: null, seconds: 7 });
  const series = seriesOf((await metrics.scrape()).text);
  expect(series['allotrope_http_requests_total{method="GET",route="/files",status="aborted"}']).toBe(1);
  const bucket = (le: string) =>
    series[`allotrope_http_request_duration_seconds_bucket{le="${le}",method="GET",route="/files"}`];
  expect([bucket('5'), bucket('10')]).toEqual([0, 1]);
});

describe('served on a port of their own', () => {
  test('they are text that Prometheus reads', async () => {
    const { metrics, ask } = await open(null);
    metrics.embedded({ space: 's', purpose: 'document', outcome: 'reused', texts: 2, tokens: 30 });
    const answer = await ask('/metrics?name=x');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(seriesOf(await answer.text())).toMatchObject({
      'allotrope_embedding_texts_total{space="s",purpose="document",outcome="reused"}': 2,
      'allotrope_embedding_tokens_total{space="s",outcome="reused"}': 30,
    });
  });

  test('nothing else is', async () => {
    const { ask } = await open(null);
    expect((await ask('/')).status).toBe(404);
    expect((await ask('/metrics', { method: 'POST' })).status).toBe(405);
  });

  test.each([undefined, '', 'Bearer', 'Bearer wrong', `Token ${TOKEN}`, TOKEN, `Bearer ${TOKEN}x`])(
    'with a token, %s is refused',
    async (authorization) => {
      const { ask } = await open(TOKEN);
      const answer = await ask('/metrics', { headers: authorization === undefined ? {} : { authorization } });
      expect(answer.status).toBe(401);
      expect(await answer.text()).not.toMatch(/allotrope_|token-of/);
    },
  );

  test('with a token, it opens them', async () => {
    const { ask } = await open(TOKEN);
    expect((await ask('/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
  });

  test('a port that is taken is told', async () => {
    await open(null);
    const page = createMetricsPage(createMetrics({ ofProcess: false }), null);
    await expect(serveMetrics(page, opened.at(-1)?.port ?? 0, '127.0.0.1')).rejects.toThrow('EADDRINUSE');
  });
});

describe('figures of the whole service', () => {
  const figures = (ready: number): Backlog => ({
    files: { READY: ready },
    runs:
      ready === 1 ? [{ kind: 'syncUpload', state: 'waiting', count: 3, oldestAt: new Date(Date.now() - 60_000) }] : [],
    deliveries: { waiting: 2, oldestAt: new Date(Date.now() - 5_000) },
    stalled: [{ cause: 'no_worker', runs: 2 }],
    workers: { alive: 1 },
    failingWebhooks: 1,
    unreadEventAt: null,
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
    return { at, pass: (took: number) => void (ms += took) };
  };

  test('are those of the last look, and what is gone is gone', async () => {
    let looks = 0;
    const { at } = gaugesOf(() => Promise.resolve(figures((looks += 1))));
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
    ...{ files: { READY: 0 }, runs: [], stalled: [], workers: {}, failingWebhooks: 0, unreadEventAt: null },
    deliveries: { waiting: 0, oldestAt: null },
  };
  const BUSY: Backlog = {
    files: { READY: 3, SYNCING: 4 },
    runs: [
      { kind: 'syncUpload', state: 'waiting', count: 5, oldestAt: ago(60) },
      { kind: 'deleteFiles', state: 'held', count: 6, oldestAt: ago(70) },
    ],
    deliveries: { waiting: 7, oldestAt: ago(80) },
    stalled: [{ cause: 'no_worker', runs: 8 }],
    workers: { alive: 9, silent: 10 },
    failingWebhooks: 11,
    unreadEventAt: ago(90),
  };

  test('each says what it stands for, in seconds where it is an age', async () => {
    const series = await gaugesOf(() => Promise.resolve(BUSY)).at(0);
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

  test('none of them keeps what is over, nor what can not be read', async () => {
    const answers = [BUSY, NOTHING, BUSY, null, NOTHING];
    const read = () => {
      const answer = answers.shift();
      return answer ? Promise.resolve(answer) : Promise.reject(new Error('away'));
    };
    const { at: later } = gaugesOf(read);
    const looks = [];
    for (let nth = 0; nth < 5; nth += 1) looks.push(await later(11_000));
    const never = await gaugesOf(() => Promise.resolve(NOTHING)).at(0);
    expect([looks[1], looks[4]]).toEqual([never, never]);
    // A failed look leaves nothing but that it failed.
    expect(looks[3]).toEqual({ allotrope_backlog_up: 0, allotrope_backlog_read_seconds: 0 });
  });

  test('looks are no more frequent than every ten seconds, and requests at one time share one', async () => {
    let looks = 0;
    const { at: later } = gaugesOf(() => Promise.resolve(figures((looks += 1))));
    await Promise.all([later(0), later(0), later(0)]);
    expect(looks).toBe(1);
    await later(9_999);
    expect(looks).toBe(1);
    await later(1);
    expect(looks).toBe(2);
  });

  test('that take long are read the more seldom', async () => {
    let looks = 0;
    const { at, pass } = gaugesOf(() => {
      looks += 1;
      pass(2_000);
      return Promise.resolve(figures(looks));
    });
    await at(0);
    await at(90_000);
    expect(looks).toBe(1);
    expect((await at(11_000))['allotrope_backlog_read_seconds']).toBe(2);
    expect(looks).toBe(2);
  });

  test('that can not be read are left out, and the others are told', async () => {
    let fails = false;
    const { at } = gaugesOf(() => (fails ? Promise.reject(new Error('away')) : Promise.resolve(figures(1))));
    await at(0);
    fails = true;
    const series = await at(20_000);
    expect(series['allotrope_backlog_up']).toBe(0);
    expect(Object.keys(series)).not.toContain('allotrope_webhook_lag_seconds');
    expect(Object.keys(series).filter((name) => name.startsWith('allotrope_files'))).toEqual([]);
  });
});

test('what is told beside them is told after them, and left out where it can not be had', async () => {
  const metrics = createMetrics({ ofProcess: false });
  metrics.filesEnded('READY', 1);
  const both = createMetricsPage(metrics, null, () => Promise.resolve('sdk_things 3\n'));
  expect(seriesOf((await both.read(undefined)).text)).toMatchObject({
    sdk_things: 3,
    'allotrope_files_ended_total{status="READY"}': 1,
  });
  const alone = await createMetricsPage(metrics, null, () => Promise.reject(new Error('away'))).read(undefined);
  expect([alone.status, seriesOf(alone.text)['allotrope_files_ended_total{status="READY"}']]).toEqual([200, 1]);
});

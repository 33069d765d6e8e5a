import { afterAll, describe, expect, test } from '@jest/globals';

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

/** Tests of the counters of a process: which calls add to which series, and the port of a process's metrics. */
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, test } from '@jest/globals';

import type { Log } from '../../observability/log.js';
import { createMetrics, type Metrics } from '../../observability/metrics.js';
import { createMetricsPage, serveMetrics, serveMetricsIfConfigured } from '../../observability/metricsPage.js';
import { seriesOf } from '../support/scrape.js';

const seriesIn = async (metrics: Metrics) => seriesOf((await metrics.scrape()).text);

test('counts billed tokens, and their cost by the price per million tokens of their space', async () => {
  const metrics = createMetrics({ ofProcess: false, prices: { paid: 0.5 } });
  metrics.providerTokens('paid', 3_000_000);
  metrics.providerTokens('paid', 1_000_000);
  metrics.providerTokens('free', 7);
  metrics.providerRequest('paid', 'ok');
  expect(await seriesIn(metrics)).toEqual({
    'allotrope_embedding_provider_tokens_total{space="paid"}': 4_000_000,
    'allotrope_embedding_provider_tokens_total{space="free"}': 7,
    'allotrope_embedding_cost_total{space="paid"}': 2,
    'allotrope_embedding_provider_requests_total{space="paid",outcome="ok"}': 1,
    ...(await emptyHistograms()),
  });
});

/** Returns the series that exist without any call. */
const emptyHistograms = () => seriesIn(createMetrics({ ofProcess: false }));

test('counts new and unchanged contents, and the bytes of new ones only', async () => {
  const metrics = createMetrics({ ofProcess: false });
  metrics.contentReceived('WEB_SCRAPE', 'new', 100);
  metrics.contentReceived('WEB_SCRAPE', 'unchanged', 70);
  metrics.contentReceived('BOX', 'unchanged', 70);
  expect(await seriesIn(metrics)).toEqual({
    'allotrope_contents_total{source="WEB_SCRAPE",outcome="new"}': 1,
    'allotrope_contents_total{source="WEB_SCRAPE",outcome="unchanged"}': 1,
    'allotrope_contents_total{source="BOX",outcome="unchanged"}': 1,
    'allotrope_content_bytes_total{source="WEB_SCRAPE"}': 100,
    ...(await emptyHistograms()),
  });
});

test('counts requests to sources and token refreshes separately, and creates no series for a count of 0', async () => {
  const metrics = createMetrics({ ofProcess: false });
  metrics.sourceRequest('BOX', 'ok');
  metrics.sourceRequest('BOX', 'ok');
  metrics.tokenRefresh('BOX', 'refused');
  metrics.filesEnded('READY', 0);
  metrics.embedded({ space: 's', purpose: 'query', outcome: 'computed', texts: 0 });
  metrics.embedded({ space: 's', purpose: 'query', outcome: 'computed', texts: 2 });
  expect(await seriesIn(metrics)).toEqual({
    'allotrope_source_requests_total{source="BOX",outcome="ok"}': 2,
    'allotrope_token_refreshes_total{source="BOX",outcome="refused"}': 1,
    'allotrope_embedding_texts_total{space="s",purpose="query",outcome="computed"}': 2,
    ...(await emptyHistograms()),
  });
});

test('measures the delay of delivered events only', async () => {
  const metrics = createMetrics({ ofProcess: false });
  metrics.webhookAttempt('failed', null);
  metrics.webhookAttempt('delivered', 0);
  metrics.webhookAttempt('delivered', 4);
  expect(await seriesIn(metrics)).toMatchObject({
    'allotrope_webhook_tries_total{outcome="failed"}': 1,
    'allotrope_webhook_tries_total{outcome="delivered"}': 2,
    allotrope_webhook_delay_seconds_count: 2,
    allotrope_webhook_delay_seconds_sum: 4,
  });
});

test('measures calls to the stores in seconds, and no other requests', async () => {
  const metrics = createMetrics({ ofProcess: false });
  metrics.watch({ system: 'http', operation: 'GET', target: 'a.example' })({ failed: true });
  const end = metrics.watch({ system: 'mongodb', operation: 'find', target: 'files' });
  const startedAt = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 20));
  end({ failed: false });
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  const series = await seriesIn(metrics);
  const sum = series['allotrope_mongodb_duration_seconds_sum{operation="find"}'] ?? NaN;
  // Timers may end a little early.
  expect([sum > 0.015, sum < elapsedSeconds + 0.05]).toEqual([true, true]);
  expect(Object.keys(series).filter((name) => /store_failures_total\{|GET/.test(name))).toEqual([]);
});

test('exports the free space of each disk and the configured minimum in bytes', async () => {
  const metrics = createMetrics({ ofProcess: false });
  metrics.reportDisks({ folders: [{ name: 'DATA_DIR', path: tmpdir() }], minFreeBytes: 7 });
  const series = await seriesIn(metrics);
  const { bavail, blocks, bsize } = await statfs(tmpdir());
  expect(series['allotrope_disk_min_free_bytes']).toBe(7);
  const free = series['allotrope_disk_free_bytes{folder="DATA_DIR"}'] ?? NaN;
  expect(Math.abs(free - bavail * bsize)).toBeLessThan(blocks * bsize * 0.1);
});

test('serves no metrics without a port, and logs a port in use instead of failing', async () => {
  const lines: string[] = [];
  const log = { info: () => undefined, error: (_fields: object, text: string) => void lines.push(text) };
  const open = (port: number | null, token: string | null = null) => {
    const endpoint = { port, host: '127.0.0.1', token, setting: 'METRICS_PORT' };
    return serveMetricsIfConfigured(createMetrics({ ofProcess: false }), endpoint, log as unknown as Log);
  };
  expect(await open(null)).toBeNull();
  const served = await open(0, 'token-of-the-deployment');
  expect((await fetch(`http://127.0.0.1:${served!.port}/metrics`)).status).toBe(401);
  expect([await open(served!.port), lines]).toEqual([null, [expect.stringContaining('its own METRICS_PORT')]]);
  await served!.close();
  await expect(fetch(`http://127.0.0.1:${served!.port}/metrics`)).rejects.toThrow('fetch failed');
});

test('responds with 500 if the metrics cannot be read, and can be closed while a connection is open', async () => {
  const page = createMetricsPage({ scrape: () => Promise.reject(new Error('broken')) }, null);
  const served = await serveMetrics(page, 0, '127.0.0.1');
  const answer = await fetch(`http://127.0.0.1:${served.port}/metrics`);
  expect([answer.status, await answer.json()]).toEqual([500, { detail: 'The metrics could not be read.' }]);
  await served.close();
});

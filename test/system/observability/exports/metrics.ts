import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../../contract/files/records.js';
import { EMBEDDING_MODELS } from '../../../../contract/vectors/embeddingModels.js';
import { nextRequests } from '../../../emulators/emulator.js';
import { type Receiver, startReceiver } from '../../../emulators/receiver.js';
import { apiClient, type Listed, testUser, type TestUser } from '../../../support/client.js';
import { consentTo } from '../../../support/consent.js';
import { seriesOf } from '../../../support/scrape.js';
import { seedFiles } from '../../../support/seedFiles.js';
import { waitFor } from '../../../support/waitFor.js';
import { apiMetrics, apiUrl, drive, emulator, METRICS_TOKEN, service, workerUrl } from './processes.js';

const LOCAL = 'minilm-l6-v2-384';
const REMOTE = EMBEDDING_MODELS.OPENAI.space;

let receiver: Receiver;
let user: TestUser;

const scrape = async (url: string): Promise<Record<string, number>> => {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return seriesOf(await answer.text());
};
const ingest = async (contents: string, model: string): Promise<FileRecord> => {
  const { status, body } = await user.post<FileRecord>('/upload_text', { contents, embedding_model: model });
  expect(status).toBe(200);
  return user.settled(body.id);
};
const textsOf = (space: string, purpose: string, outcome: string): string =>
  `allotrope_embedding_texts_total{space="${space}",purpose="${purpose}",outcome="${outcome}"}`;
const tokensOf = (space: string, outcome: string): string =>
  `allotrope_embedding_tokens_total{space="${space}",outcome="${outcome}"}`;

/**
 * Returns the increase of each series of a process during `work`. Waits until each series in `expected` has grown by
 * its value.
 */
async function growth(
  url: string,
  work: () => Promise<unknown>,
  expected: Record<string, number>,
): Promise<Record<string, number>> {
  const before = await scrape(url);
  await work();
  // A change of a file may be visible shortly before the worker counts it.
  return waitFor(
    async () =>
      Object.fromEntries(Object.entries(await scrape(url)).map(([name, value]) => [name, value - (before[name] ?? 0)])),
    (grown) => Object.entries(expected).every(([name, by]) => grown[name] === by),
  );
}
const ended = (status: string): string => `allotrope_files_ended_total{status="${status}"}`;

export function testMetrics(): void {
  describe('metrics', () => {
    beforeAll(async () => {
      receiver = await startReceiver();
      user = await testUser(apiUrl, service.apiKey, 'an-end-user');
    });
    afterEach(() => emulator.reset());
    afterAll(() => receiver.close());

    test('counts a text that is sent twice as computed once and reused once', async () => {
      const text = `The heron ${randomUUID()} waits.`;
      let tokens = 0;
      const work = async () => {
        const first = await ingest(text, 'COHERE_MULTILINGUAL_V3');
        const second = await ingest(text, 'COHERE_MULTILINGUAL_V3');
        expect([first.sync_status, second.sync_status]).toEqual(['READY', 'READY']);
        tokens = first.file_statistics?.num_tokens ?? 0;
      };
      const grown = await growth(workerUrl, work, { [ended('READY')]: 2 });
      expect(tokens).toBeGreaterThan(0);
      expect(grown).toMatchObject({
        [textsOf(LOCAL, 'document', 'computed')]: 1,
        [textsOf(LOCAL, 'document', 'reused')]: 1,
        [tokensOf(LOCAL, 'computed')]: tokens,
        [tokensOf(LOCAL, 'reused')]: tokens,
      });
      expect((await scrape(workerUrl))['process_resident_memory_bytes']).toBeGreaterThan(1_000_000);
    });

    test('counts the embedding of a query as a query, in the process that computed it', async () => {
      await ingest(`The egret ${randomUUID()} waits.`, 'COHERE_MULTILINGUAL_V3');
      const search = () => user.search({ query: 'egret', k: 1, embedding_model: 'COHERE_MULTILINGUAL_V3' });
      await growth(apiMetrics, search, { [textsOf(LOCAL, 'query', 'computed')]: 1 });
      expect(Object.keys(await scrape(apiMetrics)).filter((name) => name.includes('document'))).toEqual([]);
      expect(Object.keys(await scrape(workerUrl)).filter((name) => name.includes('query'))).toEqual([]);
    });

    test('counts requests to a provider, the tokens it bills, and files that end in an error', async () => {
      const requests = (outcome: string) =>
        `allotrope_embedding_provider_requests_total{space="${REMOTE}",outcome="${outcome}"}`;
      const good = await growth(workerUrl, () => ingest(`The bittern ${randomUUID()} booms.`, 'OPENAI'), {
        [ended('READY')]: 1,
      });
      expect(good).toMatchObject({ [textsOf(REMOTE, 'document', 'computed')]: 1, [requests('answered')]: 1 });
      const billed = good[`allotrope_embedding_provider_tokens_total{space="${REMOTE}"}`];
      expect(billed).toBeGreaterThan(0);
      expect(good[`allotrope_embedding_cost_total{space="${REMOTE}"}`]).toBeCloseTo((billed! * 0.02) / 1_000_000, 12);

      emulator.injectFault(() => ({ status: 401 }));
      const bad = await growth(workerUrl, () => ingest(`The bittern ${randomUUID()} is silent.`, 'OPENAI'), {
        [ended('SYNC_ERROR')]: 1,
      });
      expect(bad).toMatchObject({ [requests('permanent')]: 1, [requests('answered')]: 0, [ended('READY')]: 0 });
      expect(bad[textsOf(REMOTE, 'document', 'computed')]).toBe(0);
    });

    test('counts requests by the template of their path, and uses no value of callers as a label', async () => {
      const secret = 'never-in-a-label';
      await fetch(`${apiUrl}/content/77/88/${secret}?key=${secret}`);
      await fetch(`${apiUrl}/${secret}/webp`);
      await fetch(`${apiUrl}/user_files_v2`, { method: 'PUT' });
      await fetch(`${apiUrl}/user_files_v2`, { method: 'POST', headers: { authorization: `Bearer ${secret}` } });
      const counted = (method: string, route: string, status: number) =>
        `allotrope_http_requests_total{method="${method}",route="${route}",status="${status}"}`;
      const expectedSeries = [
        counted('GET', '/content/{organization}/{file}/{content}', 403),
        counted('GET', 'other', 404),
        counted('PUT', '/user_files_v2', 405),
        counted('POST', '/user_files_v2', 401),
        counted('POST', '/upload_text', 200),
      ];
      // The API counts a request when its response closes, which may be after the caller has received it.
      const series = await waitFor(
        () => scrape(apiMetrics),
        (all) => expectedSeries.every((name) => (all[name] ?? 0) > 0),
      );
      expect(series['allotrope_http_request_duration_seconds_count{method="PUT",route="/user_files_v2"}']).toBe(
        series[counted('PUT', '/user_files_v2', 405)],
      );
      expect(Object.keys(series).join('\n')).not.toMatch(/never-in-a-label|an-end-user|organization="|\/77\//);
    });

    test('requires the token of the deployment, and accepts no API key', async () => {
      for (const url of [apiMetrics, workerUrl]) {
        for (const authorization of [undefined, 'Bearer wrong', `Bearer ${service.apiKey}`, `Token ${user.token}`]) {
          const answer = await fetch(`${url}/metrics`, {
            headers: authorization === undefined ? {} : { authorization },
          });
          expect(answer.status).toBe(401);
          expect(await answer.text()).not.toContain('allotrope_');
        }
      }
    });

    test('serves metrics only on their own port', async () => {
      const answer = await fetch(`${apiUrl}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
      expect(answer.status).toBe(404);
    });

    const contentsOf = (source: string, outcome: string) =>
      `allotrope_contents_total{source="${source}",outcome="${outcome}"}`;
    const bytesOf = (source: string) => `allotrope_content_bytes_total{source="${source}"}`;

    test('counts contents and their bytes when they arrive, and as unchanged when they arrive again', async () => {
      const contents = `The curlew ${randomUUID()} calls.`;
      let file: FileRecord | undefined;
      const first = await growth(workerUrl, async () => (file = await ingest(contents, 'COHERE_MULTILINGUAL_V3')), {
        [contentsOf('RAW_TEXT', 'new')]: 1,
        [bytesOf('RAW_TEXT')]: Buffer.byteLength(contents),
      });
      expect(first[contentsOf('RAW_TEXT', 'unchanged')] ?? 0).toBe(0);
      const again = await growth(workerUrl, () => user.post('/resync_file', { file_id: file?.id }), {
        [contentsOf('RAW_TEXT', 'unchanged')]: 1,
      });
      expect(again).toMatchObject({ [contentsOf('RAW_TEXT', 'new')]: 0, [bytesOf('RAW_TEXT')]: 0 });
    });

    test('times calls to MongoDB and Qdrant by operation', async () => {
      const timed = (system: string, operation: string) =>
        `allotrope_${system}_duration_seconds_count{operation="${operation}"}`;
      const before = await scrape(workerUrl);
      await growth(workerUrl, () => ingest(`The knot ${randomUUID()} flies.`, 'COHERE_MULTILINGUAL_V3'), {
        [timed('qdrant', 'upsert')]: 1,
      });
      const after = await scrape(workerUrl);
      for (const operation of ['find', 'update', 'insert', 'commitTransaction'])
        expect([operation, after[timed('mongodb', operation)]! > (before[timed('mongodb', operation)] ?? 0)]).toEqual([
          operation,
          true,
        ]);
      expect(after['allotrope_qdrant_duration_seconds_bucket{le="10",operation="upsert"}']).toBe(
        after[timed('qdrant', 'upsert')],
      );
      await growth(apiMetrics, () => user.search({ query: 'knot', k: 1, embedding_model: 'COHERE_MULTILINGUAL_V3' }), {
        [timed('qdrant', 'query_batch')]: 1,
      });
    });

    test('includes the metrics of Temporal’s SDK, for our task queues and without ids in labels', async () => {
      const names = await waitFor(
        async () => Object.keys(await scrape(workerUrl)).filter((name) => name.startsWith('temporal_')),
        (all) => all.some((name) => name.startsWith('temporal_activity_execution_latency_seconds_count')),
      );
      expect(names.join('\n')).toContain(`task_queue="${service.names.taskQueue}"`);
      expect(names.filter((name) => name.startsWith('temporal_worker_task_slots_available'))).not.toEqual([]);
      expect(names.join('\n')).not.toMatch(/an-end-user|organization|workflow_id/);
      // The dashboard shows these series. It also shows failed workflows, but no workflow has failed here.
      for (const name of ['activity_schedule_to_start_latency_seconds_bucket', 'workflow_completed_total'])
        expect(names.some((one) => one.startsWith(`temporal_${name}{`))).toBe(true);
    });

    test('counts requests to a connected source, refusals by kind, and refreshes of its tokens', async () => {
      const requestsWith = (outcome: string) =>
        `allotrope_source_requests_total{source="GOOGLE_DRIVE",outcome="${outcome}"}`;
      const refreshed = 'allotrope_token_refreshes_total{source="GOOGLE_DRIVE",outcome="refreshed"}';
      const { body } = await user.post<{ oauth_url: string }>('/integrations/oauth_url', { service: 'GOOGLE_DRIVE' });
      expect((await consentTo(body.oauth_url)).status).toBe(200);
      const only = async () => (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
      const listed = await waitFor(
        only,
        (source) => source?.sync_status === 'READY' && !!source.source_items_synced_at,
      );
      expect((await scrape(workerUrl))[requestsWith('answered')]).toBeGreaterThan(0);

      drive.oauth.expireAll();
      drive.injectFault(
        nextRequests(1, () => ({ status: 429, reason: 'rateLimitExceeded', headers: { 'retry-after': '0' } })),
      );
      const list = () => user.post('/integrations/items/sync', { data_source_id: listed.id });
      const grown = await growth(workerUrl, list, { [requestsWith('rate_limited')]: 1, [refreshed]: 1 });
      expect(grown[requestsWith('access_revoked')]).toBeGreaterThan(0);
      drive.reset();
    });

    test('counts delivery attempts by outcome, and measures the delay of each delivered event', async () => {
      const tries = (outcome: string) => `allotrope_webhook_tries_total{outcome="${outcome}"}`;
      receiver.reactWith(() => 500);
      const key = apiClient(apiUrl, { authorization: `Bearer ${service.apiKey}` });
      const webhook = (await key.post<{ id: number }>('/add_webhook', { url: receiver.url })).body;
      const failed = await growth(
        workerUrl,
        () => ingest(`The dunlin ${randomUUID()} runs.`, 'COHERE_MULTILINGUAL_V3'),
        {},
      );
      expect(failed).toBeDefined();
      const givenUp = await waitFor(
        () => scrape(workerUrl),
        (all) => (all[tries('given_up')] ?? 0) > 0,
      );
      expect(givenUp[tries('failed')]).toBeGreaterThanOrEqual(2);
      receiver.reactWith(() => 200);
      await key.post(`/webhooks/${webhook.id}/redeliver`, {});
      const delivered = await waitFor(
        () => scrape(workerUrl),
        (all) => (all[tries('delivered')] ?? 0) > 0,
      );
      expect(delivered['allotrope_webhook_delay_seconds_count']).toBe(delivered[tries('delivered')]);
    });

    test('exports the backlog of the whole service from the API, not from the worker', async () => {
      const counted = await service.store.backlog();
      const series = await waitFor(
        () => scrape(apiMetrics),
        (all) => all['allotrope_files{status="READY"}'] === counted.files['READY'],
      );
      expect(series).toMatchObject({
        'allotrope_files{status="SYNC_ERROR"}': 1,
        allotrope_backlog_up: 1,
        allotrope_events_unread_age_seconds: 0,
      });
      expect(series['allotrope_backlog_read_seconds']).toBeGreaterThan(0);
      // The worker does not export them: their sum over both processes would be wrong.
      expect(Object.keys(await scrape(workerUrl)).filter((name) => name.startsWith('allotrope_files{'))).toEqual([]);
    });

    test('the API counts the queued files that it aborts when access is revoked', async () => {
      const source = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
      const owner = {
        organizationId: source.organization_id,
        userId: source.organization_user_id,
        customerId: 'an-end-user',
      };
      const fields = { syncStatus: 'QUEUED_FOR_SYNC' as const, dataSourceId: source.id, accountId: source.id };
      await seedFiles(
        service,
        owner,
        [1, 2, 3].map((id) => ({ id, fields })),
      );
      const revoke = () => user.post('/revoke_access_token', { data_source_id: source.id });
      await growth(apiMetrics, revoke, { [ended('SYNC_ABORTED')]: 3 });
    });
  });
}

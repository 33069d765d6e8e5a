import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/records.js';
import { EMBEDDING_MODELS } from '../../contract/embeddingModels.js';
import { type EmbeddingEmulator, startEmbeddingEmulator } from '../emulators/embeddingProviders/start.js';
import { testUser, type TestUser } from '../support/client.js';
import { startProcess } from '../support/processes.js';
import { seriesOf } from '../support/scrape.js';
import { startService, type TestService } from '../support/service.js';
import { soon } from '../support/soon.js';

const TOKEN = 'a-token-of-this-deployment';
const LOCAL = 'minilm-l6-v2-384';
const REMOTE = EMBEDDING_MODELS.OPENAI.space;

let emulator: EmbeddingEmulator;
let service: TestService;
/** As in production: two processes, of which each counts its own work. */
let api: Awaited<ReturnType<typeof startProcess>>;
let worker: Awaited<ReturnType<typeof startProcess>>;
let apiUrl: string;
let workerUrl: string;
let user: TestUser;

beforeAll(async () => {
  emulator = await startEmbeddingEmulator();
  // Beside it a service in this process, without metrics.
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, { worker: false });
  const env = {
    ...service.env,
    METRICS_TOKEN: TOKEN,
    ...emulator.settings('openai'),
  };
  [api, worker] = await Promise.all([
    startProcess('api/server', env),
    startProcess('worker/main', { ...env, WORKER_METRICS_PORT: '0' }),
  ]);
  apiUrl = `http://127.0.0.1:${String(api.ready['port'])}`;
  workerUrl = `http://127.0.0.1:${String(worker.ready['metricsPort'])}`;
  user = await testUser(apiUrl, service.apiKey, 'an-end-user');
}, 120_000);
afterEach(() => emulator.reset());
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await service.close();
  await emulator.close();
});

const scrape = async (url: string): Promise<Record<string, number>> => {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
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

/** What a piece of work adds to a process's series: waits until those named have grown by as much, and answers all. */
async function growth(
  url: string,
  work: () => Promise<unknown>,
  wanted: Record<string, number>,
): Promise<Record<string, number>> {
  const before = await scrape(url);
  await work();
  // A change of a file can be read a moment before the worker that made it goes on.
  return soon(
    async () =>
      Object.fromEntries(Object.entries(await scrape(url)).map(([name, value]) => [name, value - (before[name] ?? 0)])),
    (grown) => Object.entries(wanted).every(([name, by]) => grown[name] === by),
  );
}
const ended = (status: string): string => `allotrope_files_ended_total{status="${status}"}`;

test('a text that is sent twice is computed once and reused once', async () => {
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

test('a query counts in the process that embedded it, as what it is', async () => {
  await ingest(`The egret ${randomUUID()} waits.`, 'COHERE_MULTILINGUAL_V3');
  const search = () => user.search({ query: 'egret', k: 1, embedding_model: 'COHERE_MULTILINGUAL_V3' });
  await growth(apiUrl, search, { [textsOf(LOCAL, 'query', 'computed')]: 1 });
  expect(Object.keys(await scrape(apiUrl)).filter((name) => name.includes('document'))).toEqual([]);
  expect(Object.keys(await scrape(workerUrl)).filter((name) => name.includes('query'))).toEqual([]);
});

test('requests to a provider, the tokens it bills, and files that end in an error are counted', async () => {
  const requests = (outcome: string) =>
    `allotrope_embedding_provider_requests_total{space="${REMOTE}",outcome="${outcome}"}`;
  const good = await growth(workerUrl, () => ingest(`The bittern ${randomUUID()} booms.`, 'OPENAI'), {
    [ended('READY')]: 1,
  });
  expect(good).toMatchObject({ [textsOf(REMOTE, 'document', 'computed')]: 1, [requests('answered')]: 1 });
  expect(good[`allotrope_embedding_provider_tokens_total{space="${REMOTE}"}`]).toBeGreaterThan(0);

  emulator.misbehave(() => ({ status: 401 }));
  const bad = await growth(workerUrl, () => ingest(`The bittern ${randomUUID()} is silent.`, 'OPENAI'), {
    [ended('SYNC_ERROR')]: 1,
  });
  expect(bad).toMatchObject({ [requests('hopeless')]: 1, [requests('answered')]: 0, [ended('READY')]: 0 });
  expect(bad[textsOf(REMOTE, 'document', 'computed')]).toBe(0);
});

test('requests are counted by the template of their path, and nothing that callers choose becomes a label', async () => {
  const secret = 'never-in-a-label';
  await fetch(`${apiUrl}/content/77/88/${secret}?key=${secret}`);
  await fetch(`${apiUrl}/${secret}/webp`);
  await fetch(`${apiUrl}/user_files_v2`, { method: 'PUT' });
  await fetch(`${apiUrl}/user_files_v2`, { method: 'POST', headers: { authorization: `Bearer ${secret}` } });
  const counted = (method: string, route: string, status: number) =>
    `allotrope_http_requests_total{method="${method}",route="${route}",status="${status}"}`;
  const wanted = [
    counted('GET', '/content/{organization}/{file}/{content}', 403),
    counted('GET', 'other', 404),
    counted('PUT', '/user_files_v2', 405),
    counted('POST', '/user_files_v2', 401),
    counted('POST', '/upload_text', 200),
  ];
  // A request is counted when its connection is done with it, which its caller may see sooner.
  const series = await soon(
    () => scrape(apiUrl),
    (all) => wanted.every((name) => (all[name] ?? 0) > 0),
  );
  expect(series['allotrope_http_request_duration_seconds_count{method="PUT",route="/user_files_v2"}']).toBe(
    series[counted('PUT', '/user_files_v2', 405)],
  );
  expect(Object.keys(series).join('\n')).not.toMatch(/never-in-a-label|an-end-user|organization="|\/77\//);
});

test('who has not the token of the deployment reads nothing, an API key least of all', async () => {
  for (const url of [apiUrl, workerUrl]) {
    for (const authorization of [undefined, 'Bearer wrong', `Bearer ${service.apiKey}`, `Token ${user.token}`]) {
      const answer = await fetch(`${url}/metrics`, { headers: authorization === undefined ? {} : { authorization } });
      expect(answer.status).toBe(401);
      expect(await answer.text()).not.toContain('allotrope_');
    }
  }
});

test('without METRICS_TOKEN there is no such path', async () => {
  const answer = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(answer.status).toBe(404);
});

import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { findPort } from '../../engines/ports.js';
import { startEngines } from '../../engines/start.js';
import { samplePage, type Site, sitemapOf, startSite } from '../emulators/site.js';
import { cli } from '../support/cli.js';
import { testUser, type TestUser } from '../support/client.js';
import { testEngines } from '../support/engines.js';
import { startProcess } from '../support/processes.js';
import { newEngineFolder } from '../support/scratch.js';

const PAGES = 24;
const QUERY = 'what does the sample say';
let site: Site;
let root: string;
let dataDir: string;

beforeAll(async () => {
  site = await startSite();
  root = await newEngineFolder('backup');
  dataDir = path.join(root, 'data');
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
  await site.close();
});

const ownSettings = {
  API_KEY: `test-key-${randomBytes(12).toString('hex')}`,
  SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
};

/** Starts the engines and the service with the same DATA_DIR, as `npm start` does. */
async function start() {
  const engines = await startEngines({ dataDir, need: { temporal: true, mongodb: true, qdrant: true }, ports: 'free' });
  const { modelPath, tokenizerPath } = testEngines();
  const port = await findPort('free');
  const env: NodeJS.ProcessEnv = {
    ...ownSettings,
    ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], COMPUTE_NICENESS: '0', LOG_LEVEL: 'silent' },
    ...{ PORT: String(port), DATA_DIR: dataDir, ALLOWED_PRIVATE_HOSTS: '127.0.0.1', CONTENT_ROW_BYTES: '0' },
    ...{ EMBEDDING_MODEL_PATH: modelPath, EMBEDDING_TOKENIZER_PATH: tokenizerPath, EMBEDDING_THREADS: '1' },
  };
  const api = await startProcess('api/server', env);
  const worker = await startProcess('worker/main', env);
  return {
    user: (): Promise<TestUser> => testUser(`http://127.0.0.1:${port}`, ownSettings.API_KEY, 'ben', 30_000),
    async stop() {
      await Promise.all([api.stop(), worker.stop()]);
      await engines.stop();
    },
  };
}

test('restores all data from a backup after a wipe: searches find the same, and the interrupted scrape finishes', async () => {
  const paths = Array.from({ length: PAGES }, (_, n) => `/p${n}.html`);
  for (const [n, page] of paths.entries()) site.pages.set(page, { body: samplePage(n, 1), delayMs: n < 8 ? 0 : 400 });
  site.pages.set('/few.xml', sitemapOf(site.origin, paths.slice(0, 4)));
  site.pages.set('/others.xml', sitemapOf(site.origin, paths.slice(4)));
  const before = await start();
  const user = await before.user();
  const indexed = await user.scrape({ url: site.url('/few.xml'), chunk_size: 100 });
  await user.settled(indexed.id);
  const search = { query: QUERY, k: 5, parent_file_ids: [indexed.id] };
  const answer = await user.search(search);
  expect(answer).toHaveLength(5);
  const upload = await user.send(
    { name: 'own.txt', content: 'kept with the account '.repeat(50) },
    { chunk_size: 100 },
  );
  await user.settled(upload.id);
  const inFlight = await user.scrape({ url: site.url('/others.xml'), chunk_size: 100 });
  while ((await user.children(inFlight.id)).filter(({ sync_status }) => sync_status === 'READY').length < 2)
    await sleep(50);
  const running = await cli({ ...ownSettings, DATA_DIR: dataDir }, 'backup', path.join(root, 'too-early'));
  expect([running.code, running.stderr]).toEqual([1, expect.stringContaining('Stop npm start first')]);
  await before.stop();

  const folder = path.join(root, 'kept');
  expect(await cli({ ...ownSettings, DATA_DIR: dataDir }, 'backup', folder)).toMatchObject({ code: 0 });
  await rm(dataDir, { recursive: true });
  expect(await cli({ ...ownSettings, DATA_DIR: dataDir }, 'restore', folder)).toMatchObject({ code: 0 });

  const after = await start();
  try {
    const userAfterRestore = await after.user();
    const summaryOf = ({ content, score, rank }: (typeof answer)[number]) => ({ content, score, rank });
    expect((await userAfterRestore.search(search)).map(summaryOf)).toEqual(answer.map(summaryOf));
    expect(await userAfterRestore.settled(inFlight.id)).toMatchObject({
      sync_status: 'READY',
      file_metadata: { pages_total: PAGES - 4, pages_ready: PAGES - 4 },
    });
    const raw = await userAfterRestore.get<{ presigned_url: string }>(`/raw_file/${upload.id}`);
    expect(await (await fetch(raw.body.presigned_url)).text()).toContain('kept with the account');
    expect(await cli({ ...ownSettings, DATA_DIR: dataDir }, 'reconcile')).toMatchObject({ code: 0 });
  } finally {
    await after.stop();
  }
});

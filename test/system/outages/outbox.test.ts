import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type RunningEngines, startEngines } from '../../../engines/start.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import { newEngineFolder } from '../../support/scratch.js';
import { startService, type TestService } from '../../support/service.js';

let engines: RunningEngines;
let dataDir: string;
let service: TestService;
let site: Site;

beforeAll(async () => {
  // This test stops Temporal, so it starts its own Temporal.
  dataDir = await newEngineFolder('outbox');
  engines = await startEngines({ dataDir, need: { temporal: true, mongodb: false, qdrant: false }, ports: 'free' });
  service = await startService(
    { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', TEMPORAL_ADDRESS: engines.temporalAddress ?? '', LOG_LEVEL: 'silent' },
    { worker: false },
  );
  site = await startSampleSite(3, 1);
});
afterAll(async () => {
  await service.close();
  await site.close();
  await engines.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test('accepts a scrape while worker and Temporal are stopped, and runs it when they start', async () => {
  const user = await service.user('dora');
  await engines.temporal?.stop();

  const accepted = await user.scrape({ url: site.url('/sitemap.xml') });
  expect(accepted.sync_status).toBe('QUEUED_FOR_SYNC');
  // The request handler itself fetches no page.
  expect(site.requests).toEqual([]);
  expect((await user.get('/health')).status).toBe(200);
  expect(await user.get('/ready')).toMatchObject({
    status: 200,
    body: { status: 'degraded', checks: { mongodb: { ok: true }, temporal: { ok: false } } },
  });

  await engines.temporal?.restart();
  await service.startWorker();
  const parent = await user.settled(accepted.id);
  expect(parent.sync_status).toBe('READY');
  expect(parent.file_metadata).toMatchObject({ pages_ready: 3 });
  expect(site.requests.filter((one) => one.startsWith('/pages/'))).toHaveLength(3);
});

import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type RunningEngines, startEngines } from '../../../engines/start.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import { quietTemporal } from '../../support/quietTemporal.js';
import { newEngineFolder } from '../../support/scratch.js';
import { startService, type TestService } from '../../support/service.js';

const PAGES = 30;
/** Long enough for several attempts of a batch: after 1, 2 and 4 seconds. */
const OUTAGE_MS = 9_000;

let engines: RunningEngines;
let dataDir: string;
let service: TestService;
let site: Site;

beforeAll(async () => {
  // Failed activities are expected here; the SDK would log each one.
  await quietTemporal('ERROR');
  // This test kills Qdrant, so it starts its own.
  dataDir = await newEngineFolder('outage');
  engines = await startEngines({ dataDir, need: { temporal: false, mongodb: false, qdrant: true }, ports: 'free' });
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    QDRANT_URL: engines.qdrantUrl ?? '',
    LOG_LEVEL: 'silent',
  });
  site = await startSampleSite(PAGES, 2);
});
afterAll(async () => {
  await service.close();
  await site.close();
  await engines.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test('fetches each page at most twice while Qdrant is down, and finishes when it is available again', async () => {
  const user = await service.user('lena');
  const pages = () => site.requests.filter((one) => one.startsWith('/pages/'));
  const { id } = await user.scrape({ url: site.url('/sitemap.xml') });
  while (pages().length === 0) await sleep(5);
  await engines.qdrant?.kill();
  await sleep(OUTAGE_MS);
  await engines.qdrant?.restart();
  expect(await user.settled(id)).toMatchObject({
    sync_status: 'READY',
    file_metadata: { pages_total: PAGES, pages_ready: PAGES },
  });
  const requestsByPage = new Map<string, number>();
  for (const page of pages()) requestsByPage.set(page, (requestsByPage.get(page) ?? 0) + 1);
  expect([...requestsByPage].filter(([, count]) => count > 2)).toEqual([]);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

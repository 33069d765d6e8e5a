import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { type RunningEngines, startEngines } from '../../../engines/start.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import { type Listed, testUser } from '../../support/client.js';
import { quietTemporal } from '../../support/quietTemporal.js';
import { newEngineFolder } from '../../support/scratch.js';
import { startService, type TestService } from '../../support/service.js';
import { TIME_LIMIT_MS, waitFor } from '../../support/waitFor.js';

const PAGES = 30;
/** Seconds without a primary. */
const STEP_DOWN_S = 2;

let engines: RunningEngines;
let dataDir: string;
let service: TestService;
let site: Site;
let admin: mongoose.mongo.MongoClient;

beforeAll(async () => {
  // Failing steps are expected here; the SDK would log each.
  await quietTemporal('ERROR');
  // This test makes the primary step down, so it has its own MongoDB.
  dataDir = await newEngineFolder('step-down');
  engines = await startEngines({ dataDir, need: { temporal: false, mongodb: true, qdrant: false }, ports: 'free' });
  const uri = new URL(engines.mongodbUri ?? '');
  admin = new mongoose.mongo.MongoClient(uri.href);
  uri.pathname = '/stepdown';
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', MONGODB_URI: uri.href, LOG_LEVEL: 'silent' });
  site = await startSampleSite(PAGES, 2);
});
afterAll(async () => {
  await service.close();
  await site.close();
  await admin.close();
  await engines.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/**
 * Makes the primary step down. A set of one member needs `force`, and elects that member again afterwards.
 * https://www.mongodb.com/docs/manual/reference/command/replSetStepDown/
 */
const stepDown = () =>
  admin.db('admin').command({ replSetStepDown: STEP_DOWN_S, secondaryCatchUpPeriodSecs: 0, force: true });

test('loses and duplicates nothing when the primary steps down repeatedly during an ingest', async () => {
  const user = await testUser(service.url, service.apiKey, 'stella', TIME_LIMIT_MS);
  const { id } = await user.scrape({ url: site.url('/sitemap.xml') });
  await waitFor(
    () => site.requests.filter((path) => path.startsWith('/pages/')).length,
    (count) => count > 0,
  );
  let steppedDownAt = Infinity;
  for (let nth = 0; nth < 3; nth += 1) {
    await stepDown();
    if (nth === 0) steppedDownAt = Date.now();
    await sleep(STEP_DOWN_S * 1_000);
  }
  expect(await user.settled(id)).toMatchObject({
    sync_status: 'READY',
    file_metadata: { pages_total: PAGES, pages_ready: PAGES, pages_failed: 0, pages_aborted: 0 },
  });
  // The run ends after its file is READY, in a step of its own that a missing primary may delay.
  const finishedAt = await waitFor(
    async () =>
      (await user.get<Listed<{ finished_at: string | null }>>(`/sync_runs?file_id=${id}`)).body.results[0]?.finished_at,
    (time) => typeof time === 'string',
  );
  expect(Date.parse(finishedAt ?? '')).toBeGreaterThan(steppedDownAt);
  const pages = await user.children(id);
  expect(new Set(pages.map((page) => page.external_url)).size).toBe(PAGES);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

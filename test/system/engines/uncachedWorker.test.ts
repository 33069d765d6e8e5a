import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { createTemporalClient } from '../../../dispatch/client.js';
import { type Site, samplePage, startSampleSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import { testEngines } from '../../support/engines.js';
import { loadProduct } from '../../support/product.js';
import { quietTemporal } from '../../support/quietTemporal.js';
import { startService, type TestService } from '../../support/service.js';
import { sharedLocalModel } from '../../support/sharedLocalModel.js';

const PAGES = 12;
/** https://github.com/temporalio/api/blob/master/temporal/api/enums/v1/task_queue.proto */
const STICKY = 2;

let service: TestService;
let site: Site;
let stopWorker: () => Promise<void>;

beforeAll(async () => {
  await quietTemporal();
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, { worker: false });
  site = await startSampleSite(PAGES, 1);
  const { createLog, createWorker, loadConfig } = await loadProduct();
  const worker = await createWorker(loadConfig(service.env), {
    log: createLog({ level: 'error', name: 'uncached' }),
    store: service.store,
    localModel: await sharedLocalModel(testEngines()),
    measureLoad: () => ({ waitShare: null, waited: null, othersShare: null }),
    maxCachedWorkflows: 0,
  });
  const ended = worker.run();
  stopWorker = async () => {
    worker.stop();
    await ended;
  };
});
afterAll(async () => {
  await stopWorker();
  await service.close();
  await site.close();
});

test('a worker without a workflow cache, which replays every history, ingests a site and syncs it again', async () => {
  const user = await service.user('uma');
  const { id } = await user.scrape({ url: site.url('/sitemap.xml') });
  const allReady = { sync_status: 'READY', file_metadata: { pages_total: PAGES, pages_ready: PAGES } };
  expect(await user.settled(id)).toMatchObject(allReady);
  site.pages.set('/pages/0.html', samplePage(PAGES + 1, 2));
  expect((await user.post('/resync_file', { file_id: id })).status).toBe(200);
  expect(await user.settled(id)).toMatchObject(allReady);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);

  // Temporal sends the tasks of a cached workflow to a separate queue of its worker, called sticky.
  const client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  const [run] = (await user.get<{ results: { workflow_id: string }[] }>(`/sync_runs?file_id=${id}`)).body.results;
  const { events } = await client.workflow.getHandle(run?.workflow_id ?? '').fetchHistory();
  const tasks = (events ?? []).flatMap(({ workflowTaskScheduledEventAttributes: task }) => task ?? []);
  expect(tasks.length).toBeGreaterThan(2);
  expect(tasks.filter(({ taskQueue }) => taskQueue?.kind === STICKY)).toEqual([]);
  await client.connection.close();
});

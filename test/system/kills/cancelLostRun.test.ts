/** Cancels of runs whose workflow is missing or was terminated in Temporal. The reaper does not run in these tests. */
import type { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import type { RunDoc } from '../../../store/models/runs.js';
import { type HeldSite, startHeldSite } from '../../emulators/heldSite.js';
import { readStoredState } from '../../support/storedState.js';
import type { TestUser } from '../../support/client.js';
import { testEngines } from '../../support/engines.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

const PAGES = 5;
let service: TestService;
let client: Client;
let site: HeldSite;
let user: TestUser;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent' }, { worker: false });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  user = await service.user('gwen');
});
afterAll(async () => {
  await service.close();
  await client.connection.close();
});
beforeEach(async () => {
  site = await startHeldSite(PAGES);
});
afterEach(async () => {
  await service.stopWorker();
  await site.close();
});

const workflowOf = ({ id }: Pick<FileRecord, 'id'>) => client.workflow.getHandle(service.names.idOf(`scrape:${id}`));
const runOf = async (file: FileRecord): Promise<RunDoc> => {
  const owner = { organizationId: file.organization_id, userId: file.organization_user_id ?? 0 };
  const [stored] = await service.store.files.byIds(owner, [file.id]);
  return (await service.store.runs.find(stored?.runId ?? 0))!;
};
const cancel = (id: number) => user.post('/cancel_sync', { file_id: id });

/** Starts a scrape, and waits until Temporal has accepted it. */
async function startScrape(): Promise<FileRecord> {
  const parent = await user.scrape({ url: site.url('/sitemap.xml') });
  await waitFor(
    () => runOf(parent),
    ({ startedAt }) => startedAt !== null,
  );
  return parent;
}

/** Starts a scrape, stops the worker once two pages are READY, and leaves the others in progress. */
async function startInterruptedScrape(): Promise<FileRecord> {
  await service.startWorker();
  const parent = await startScrape();
  await waitFor(
    () => user.children(parent.id),
    (pages) => pages.filter((page) => page.sync_status === 'READY').length === 2,
  );
  await service.stopWorker();
  return parent;
}

test('a cancel ends a run that was terminated in Temporal, with its files, and each event is emitted once', async () => {
  const parent = await startInterruptedScrape();
  await workflowOf(parent).terminate('test');
  const answers = await Promise.all([cancel(parent.id), cancel(parent.id)]);
  expect(answers.map(({ status }) => status)).toContain(200);
  expect(await user.file(parent.id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
  const states = (await user.children(parent.id)).map((page) => page.sync_status);
  expect(states.toSorted()).toEqual(['READY', 'READY', 'SYNC_ABORTED', 'SYNC_ABORTED', 'SYNC_ABORTED']);
  const run = await runOf(parent);
  expect(run).toMatchObject({ outcome: 'aborted', message: null, error: null, counts: { total: 5, aborted: 3 } });
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  expect((await cancel(parent.id)).status).toBe(409);
});

test('a cancel ends a run that is missing in Temporal as SYNC_ABORTED', async () => {
  const parent = await startScrape();
  const { namespace } = client.options;
  const { workflowId } = workflowOf(parent);
  await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  await waitFor(
    () =>
      workflowOf(parent)
        .describe()
        .then(
          () => false,
          () => true,
        ),
    (isGone) => isGone,
  );
  expect((await cancel(parent.id)).body).toMatchObject({ sync_status: 'SYNC_ABORTED' });
  expect(await runOf(parent)).toMatchObject({ outcome: 'aborted' });
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

test('a cancel of a lost run does not change a later run with the same workflow id', async () => {
  const parent = await startInterruptedScrape();
  const unfinishedPage = (await user.children(parent.id)).find((page) => page.sync_status !== 'READY')!;
  await workflowOf(parent).terminate('test');
  const again = await startScrape();
  expect(again.id).toBe(parent.id);
  expect((await cancel(unfinishedPage.id)).body).toMatchObject({ sync_status: 'SYNC_ABORTED' });
  site.release();
  await service.startWorker();
  expect(await user.settled(parent.id)).toMatchObject({ sync_status: 'READY' });
  expect((await user.children(parent.id)).map((page) => page.sync_status)).toEqual(Array(PAGES).fill('READY'));
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

/** Runs whose workflow is missing, or was terminated in Temporal while no worker ran. */
import type { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import { workflowIds } from '../../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { reapOnce } from '../../../dispatch/reaper.js';
import { createLog } from '../../../observability/log.js';
import type { RunDoc } from '../../../store/models/runs.js';
import { type HeldSite, startHeldSite } from '../../emulators/heldSite.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import { type ApiClient, apiClient, type Listed, type TestUser } from '../../support/client.js';
import { adoptFiles, connectSource, pointTags } from '../../support/dataSources.js';
import { testEngines } from '../../support/engines.js';
import { withDatabase } from '../../support/mongo.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent' }, { worker: false });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
});
afterAll(async () => {
  await service.close();
  await client.connection.close();
});

// No worker, and so no reaper, runs between the loss of a workflow and its cancel: only the cancel can end the run.
describe('cancels', () => {
  const PAGES = 5;
  let site: HeldSite;
  let user: TestUser;
  beforeAll(async () => {
    user = await service.user('gwen');
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

  test('two concurrent cancels end a run that was terminated in Temporal and its files, and emit each event once', async () => {
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
});

describe('runs that no file record refers to', () => {
  const log = createLog({ level: 'silent', name: 'test' });
  let site: Site;
  let user: TestUser;
  let organizationId: number;
  let organization: ApiClient;
  let page: FileRecord;
  let sourceId: number;

  beforeAll(async () => {
    await service.startWorker();
    site = await startSampleSite(1, 1);
    user = await service.user('tess');
    const created = await service.store.organizations.create('recounted');
    organizationId = created.organizationId;
    organization = apiClient(service.url, { authorization: `Bearer ${created.apiKey}` });
    const parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id);
    page = (await user.children(parent.id))[0]!;
    sourceId = (await connectSource(service, await service.store.users.ensure(1, 'tess')))._id;
    await adoptFiles(service, sourceId, [page.id]);
  });
  afterAll(async () => {
    await service.stopWorker();
    await site.close();
  });
  beforeEach(() => service.stopWorker());

  /** Runs the reaper with a clock that is a minute ahead, so that every run is old enough for it. */
  const reapLater = () => reapOnce({ client, names: service.names }, service.store, log, Date.now() + 60_000);

  /** Waits until Temporal has started a run of this kind, and returns the run. */
  const startedRun = (kind: RunDoc['kind']): Promise<RunDoc> =>
    waitFor(
      async () => (await service.store.runs.listActiveStartedUntil(new Date(), 10)).find((run) => run.kind === kind)!,
      (run) => run !== undefined,
    );
  /** Waits until all runs have ended, so that a test does not take a run of the previous test for its own. */
  const allEnded = () =>
    waitFor(
      () => service.store.runs.listActiveStartedUntil(new Date(), 10),
      (runs) => runs.length === 0,
    );
  const record = async (): Promise<DataSourceRecord> => {
    const body = { filters: { ids: [sourceId] } };
    return (await user.post<Listed<DataSourceRecord>>('/user_data_sources', body)).body.results[0]!;
  };
  const addTag = async (team: string): Promise<void> => {
    const body = { data_source_id: sourceId, tags: { team } };
    expect((await user.post('/data_sources/tags/add', body)).status).toBe(200);
  };
  const pointTagsWith = (tag: string): Promise<string[][]> =>
    waitFor(
      () => pointTags(service, page.id),
      (lists) => lists.every((list) => list.includes(tag)),
    );

  describe('tags of a data source', () => {
    test('are applied after their run was terminated', async () => {
      await addTag('red');
      await client.workflow
        .getHandle(service.names.idOf((await startedRun('updateTags')).workflowId))
        .terminate('test');
      expect(await reapLater()).toBe(1);
      // The same run is not reaped a second time.
      expect(await reapLater()).toBe(0);
      await service.startWorker();
      await pointTagsWith('team=red');
      await allEnded();
      expect((await record()).data_source_metadata).toEqual({});
    });

    test('are not applied after their run was cancelled; tags_pending is true until a later change has applied them', async () => {
      await addTag('blue');
      await client.workflow.getHandle(service.names.idOf((await startedRun('updateTags')).workflowId)).cancel();
      await service.startWorker();
      const stopped = await waitFor(record, ({ data_source_metadata }) => 'tags_pending' in data_source_metadata);
      expect(stopped).toMatchObject({ tags: { team: 'blue' }, data_source_metadata: { tags_pending: true } });
      expect((await pointTags(service, page.id)).flat()).not.toContain('team=blue');
      expect(await reapLater()).toBe(0);
      await addTag('blue');
      await pointTagsWith('team=blue');
      await waitFor(record, ({ data_source_metadata }) => !('tags_pending' in data_source_metadata));
      await allEnded();
    });

    thoroughly('are not applied after the maximum number of restarts, and tags_pending is true', async () => {
      await addTag('green');
      const run = await startedRun('updateTags');
      await withDatabase(service, (connection) =>
        connection.collection<RunDoc>('runs').updateOne({ _id: run._id }, { $set: { redone: 3 } }),
      );
      await client.workflow.getHandle(service.names.idOf(run.workflowId)).terminate('test');
      expect(await reapLater()).toBe(1);
      expect((await record()).data_source_metadata).toEqual({ tags_pending: true });
      expect(await service.store.runs.listUnstarted(new Date(Date.now() + 60_000), 10)).toEqual([]);
    });
  });

  test('finishes a terminated recount, and emits one event', async () => {
    expect((await organization.post('/organization/statistics', undefined)).status).toBe(200);
    await startedRun('recountFiles');
    await client.workflow.getHandle(service.names.idOf(workflowIds.recount(organizationId))).terminate('test');
    expect(await reapLater()).toBe(1);
    await service.startWorker();
    await waitFor(
      () => organization.get<{ file_statistics_aggregated_at: string | null }>('/organization'),
      ({ body }) => body.file_statistics_aggregated_at !== null,
    );
    const emitted = await waitFor(
      async () => (await service.store.events.after(organizationId, 0, 10_000)).map(({ kind }) => kind),
      (kinds) => kinds.includes('FILE_STATISTICS_AGGREGATED'),
    );
    expect(emitted.filter((kind) => kind === 'FILE_STATISTICS_AGGREGATED')).toHaveLength(1);
  });
});

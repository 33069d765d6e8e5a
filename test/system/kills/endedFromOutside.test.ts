import { randomInt } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../contract/records.js';
import { workflowIds } from '../../../contract/orchestration.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { reapOnce } from '../../../dispatch/reaper.js';
import { createLog } from '../../../observability/log.js';
import type { RunDoc } from '../../../store/runs/model.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import { type ApiClient, apiClient, type Listed, type TestUser } from '../../support/client.js';
import { adoptFiles, connectSource, pointTags, withDatabase } from '../../support/dataSources.js';
import { testEngines } from '../../support/engines.js';
import { waitFor } from '../../support/waitFor.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly } from '../../support/thorough.js';

/** Runs that no record waits for, ended in Temporal while no worker is there. */
const log = createLog({ level: 'silent', name: 'test' });
let service: TestService;
let client: Client;
let site: Site;
let user: TestUser;
let organizationId: number;
let organization: ApiClient;
let page: FileRecord;
let sourceId: number;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent' });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  site = await startSampleSite(1, 1);
  user = await service.user('tess');
  // The suites share one Temporal, and others recount their first organizations at this moment.
  await withDatabase(service, (connection) =>
    connection
      .collection<{ _id: string; last: number }>('sequences')
      .updateOne({ _id: 'organization' }, { $set: { last: randomInt(1_000_000, 1_000_000_000) } }),
  );
  const created = await service.store.organizations.create('recounted');
  organizationId = created.organizationId;
  organization = apiClient(service.url, { authorization: `Bearer ${created.apiKey}` });
  const parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id);
  page = (await user.children(parent.id))[0]!;
  sourceId = (await connectSource(service, await service.store.users.ensure(1, 'tess')))._id;
  await adoptFiles(service, sourceId, [page.id]);
});
afterAll(async () => {
  await service.close();
  await site.close();
  await client.connection.close();
});
beforeEach(() => service.stopWorker());

/** The reaper's round in a minute, when no run is too young to be looked at. */
const reapLater = () => reapOnce({ client, names: service.names }, service.store, log, Date.now() + 60_000);

/** The run of a kind, once Temporal has it. */
const begun = (kind: RunDoc['kind']): Promise<RunDoc> =>
  waitFor(
    async () => (await service.store.runs.inMotion(new Date(), 10)).find((run) => run.kind === kind)!,
    (run) => run !== undefined,
  );
/** Else a run that is about to end is taken for the next one. */
const allEnded = () =>
  waitFor(
    () => service.store.runs.inMotion(new Date(), 10),
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
const carried = (tag: string): Promise<string[][]> =>
  waitFor(
    () => pointTags(service, page.id),
    (lists) => lists.every((list) => list.includes(tag)),
  );

describe('tags of a data source', () => {
  test('that were terminated on their way arrive all the same', async () => {
    await addTag('red');
    await client.workflow.getHandle(service.names.idOf((await begun('updateTags')).workflowId)).terminate('test');
    expect(await reapLater()).toBe(1);
    // The same run is not found a second time.
    expect(await reapLater()).toBe(0);
    await service.startWorker();
    await carried('team=red');
    await allEnded();
    expect((await record()).data_source_metadata).toEqual({});
  });

  test('that were cancelled stay behind; the record says so until a change has brought them everywhere', async () => {
    await addTag('blue');
    await client.workflow.getHandle(service.names.idOf((await begun('updateTags')).workflowId)).cancel();
    await service.startWorker();
    const stopped = await waitFor(record, ({ data_source_metadata }) => 'tags_pending' in data_source_metadata);
    expect(stopped).toMatchObject({ tags: { team: 'blue' }, data_source_metadata: { tags_pending: true } });
    expect((await pointTags(service, page.id)).flat()).not.toContain('team=blue');
    expect(await reapLater()).toBe(0);
    await addTag('blue');
    await carried('team=blue');
    await waitFor(record, ({ data_source_metadata }) => !('tags_pending' in data_source_metadata));
    await allEnded();
  });

  thoroughly('that are ended again and again are given up, and the record says so', async () => {
    await addTag('green');
    const run = await begun('updateTags');
    await withDatabase(service, (connection) =>
      connection.collection<RunDoc>('runs').updateOne({ _id: run._id }, { $set: { redone: 3 } }),
    );
    await client.workflow.getHandle(service.names.idOf(run.workflowId)).terminate('test');
    expect(await reapLater()).toBe(1);
    expect((await record()).data_source_metadata).toEqual({ tags_pending: true });
    expect(await service.store.runs.unstarted(new Date(Date.now() + 60_000), 10)).toEqual([]);
  });
});

test('a recount that was terminated comes to its end, and is told once', async () => {
  expect((await organization.post('/organization/statistics', undefined)).status).toBe(200);
  await begun('recountFiles');
  await client.workflow.getHandle(service.names.idOf(workflowIds.recount(organizationId))).terminate('test');
  expect(await reapLater()).toBe(1);
  await service.startWorker();
  await waitFor(
    () => organization.get<{ file_statistics_aggregated_at: string | null }>('/organization'),
    ({ body }) => body.file_statistics_aggregated_at !== null,
  );
  const told = await waitFor(
    async () => (await service.store.events.after(organizationId, 0, 10_000)).map(({ kind }) => kind),
    (kinds) => kinds.includes('FILE_STATISTICS_AGGREGATED'),
  );
  expect(told.filter((kind) => kind === 'FILE_STATISTICS_AGGREGATED')).toHaveLength(1);
});

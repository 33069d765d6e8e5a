import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { createTemporalClient } from '../../../dispatch/client.js';
import { reapOnce } from '../../../dispatch/reaper.js';
import { createLog } from '../../../observability/log.js';
import { SCHEMA_VERSION } from '../../../store/migrations/run.js';
import { samplePage, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import type { TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/mongo.js';
import { testEngines } from '../../support/engines.js';
import { type FaultProxy, startFaultProxy } from '../../support/faultProxy.js';
import { startProcess } from '../../support/processes.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

const log = createLog({ level: 'silent', name: 'test' });
let service: TestService;
let proxy: FaultProxy;
let worker: Awaited<ReturnType<typeof startProcess>>;
let client: Client;
let site: Site;
let user: TestUser;

beforeAll(async () => {
  site = await startSite();
  // The interval of the reaper is longer than the test, which calls the reaper itself.
  const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent', REAP_INTERVAL_S: '3600' };
  service = await startService(settings, { worker: false });
  proxy = await startFaultProxy(service.env);
  worker = await startProcess('worker/main', { ...service.env, ...proxy.env });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  user = await service.user('lena');
});
afterAll(async () => {
  await worker.stop();
  await proxy.close();
  await service.close();
  await site.close();
  await client.connection.close();
});

/** Runs the reaper with a clock that is a minute ahead, so that every run is old enough for it. */
const reapLater = () => reapOnce({ client, names: service.names }, service.store, log, Date.now() + 60_000);

/** Reads the stores once the last run has ended: a run ends a moment after its file has its final status. */
async function settledState() {
  await waitFor(
    () => service.store.runs.listActiveStartedUntil(new Date(Date.now() + 1), 10),
    (runs) => runs.length === 0,
  );
  return readStoredState(service.env);
}

async function scraped(paths: readonly string[]) {
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, paths));
  const parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id);
  return user.children(parent.id);
}

test('after its resync was terminated in Temporal, a file is SYNC_ABORTED with its old content; a later resync works', async () => {
  site.pages.set('/changing.html', samplePage(1, 2));
  const [page] = await scraped(['/changing.html']);
  const id = page?.id ?? 0;
  const before = (await settledState()).content('lena').segments;
  let isRequested = false;
  // The site never answers, so the resync waits for this page.
  site.pages.set('/changing.html', () => {
    isRequested = true;
  });
  await user.post('/resync_file', { file_id: id });
  while (!isRequested) await sleep(20);
  expect(await reapLater()).toBe(0);
  await client.workflow.getHandle(service.names.idOf(`resync:${id}`)).terminate('test');
  expect(await reapLater()).toBe(1);
  expect(await user.file(id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
  const after = await settledState();
  expect(after.findInconsistencies()).toEqual([]);
  expect(after.content('lena').segments).toEqual(before);

  site.pages.set('/changing.html', samplePage(2, 3));
  expect((await user.post('/resync_file', { file_id: id })).status).toBe(200);
  expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
  expect((await settledState()).findInconsistencies()).toEqual([]);
});

test('files of a delete that was terminated halfway are SYNC_ABORTED; a resync restores them, and a delete removes them', async () => {
  const paths = ['/one.html', '/two.html'];
  paths.forEach((path, number) => site.pages.set(path, samplePage(10 + number, 2)));
  const [firstPage, secondPage] = await scraped(paths);
  const ids = [firstPage?.id ?? 0, secondPage?.id ?? 0];
  const before = (await settledState()).content('lena');

  const halfway = proxy.stopAt({ step: 'cleanPoints', when: 'after', nth: 1 });
  await user.post('/delete_files_v2', { filters: { ids } });
  await halfway;
  await worker.kill();
  // The scrape may still be ending.
  const run = (await service.store.runs.listActiveStartedUntil(new Date(Date.now() + 1), 10)).find(
    (open) => open.kind === 'deleteFiles',
  );
  await client.workflow.getHandle(service.names.idOf(run?.workflowId ?? '')).terminate('test');
  proxy.reopen();
  expect(await reapLater()).toBe(1);
  for (const id of ids) {
    const { sync_status, sync_error_message } = await user.file(id);
    expect({ sync_status, sync_error_message }).toEqual({
      sync_status: 'SYNC_ABORTED',
      sync_error_message: expect.stringContaining('delete of this file was stopped'),
    });
  }

  worker = await startProcess('worker/main', { ...service.env, ...proxy.env });
  for (const id of ids) {
    expect((await user.post('/resync_file', { file_id: id })).status).toBe(200);
    expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
  }
  const after = await settledState();
  expect(after.findInconsistencies()).toEqual([]);
  expect(after.content('lena')).toEqual(before);

  await user.post('/delete_files_v2', { filters: { ids } });
  await waitFor(
    () => user.children(firstPage?.parent_id ?? 0),
    (files) => !files.some((file) => ids.includes(file.id)),
  );
  expect((await settledState()).findInconsistencies()).toEqual([]);
});

test('leaves no partial writes of a re-embedding that was terminated after its worker died', async () => {
  const { organizationId, apiKey } = await service.store.organizations.create('embedded again');
  const ines = await service.user('ines', apiKey);
  const { id } = await ines.send({ name: 'pier.txt', content: 'The lamp was lit at the pier.' });
  expect(await ines.settled(id)).toMatchObject({ sync_status: 'READY' });
  await settledState();
  const segments = () => withDatabase(service, (db) => db.collection('segments').countDocuments({ organizationId }));

  const halfway = proxy.stopAt({ step: 'points', when: 'before', nth: 1 });
  const [runId = 0] = await service.store.rebuilds.accept({ organizationId, customerId: null, space: null });
  await halfway;
  await worker.kill();
  proxy.reopen();
  const run = await service.store.runs.find(runId);
  await client.workflow.getHandle(service.names.idOf(run?.workflowId ?? '')).terminate('test');
  // The chunks were copied for the new vectors.
  expect(await segments()).toBe(2);

  expect(await reapLater()).toBe(1);
  worker = await startProcess('worker/main', { ...service.env, ...proxy.env });
  const after = await settledState();
  expect(await reapLater()).toBe(0);
  expect(await service.store.runs.find(runId)).toMatchObject({ outcome: 'aborted' });
  expect(await segments()).toBe(1);
  expect(after.findInconsistencies()).toEqual([]);
});

test('does not change a run that ended after the reaper had listed it', async () => {
  const { runs } = service.store;
  const pages: (() => void)[] = [];
  site.pages.set('/soon-done.html', (_request, response) => {
    pages.push(() => response.end('<p>It was only slow.</p>'));
  });
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, ['/soon-done.html']));
  const { id } = await user.scrape({ url: site.url('/sitemap.xml') });
  while (pages.length === 0) await sleep(20);
  const listed = await runs.listActiveStartedUntil(new Date(Date.now() + 1), 10);
  expect(listed).toHaveLength(1);
  pages.forEach((answer) => answer());
  expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
  await settledState();
  expect(
    await reapOnce(
      { client, names: service.names },
      { ...service.store, runs: { ...runs, listActiveStartedUntil: async () => listed } },
      log,
    ),
  ).toBe(0);
});

test('stops work in running processes while the database has a newer schema version; the API resumes after the version is set back', async () => {
  const setVersion = (version: number) =>
    withDatabase(service, (db) =>
      db.collection<{ _id: string }>('meta').updateOne({ _id: 'schema' }, { $set: { version } }),
    );
  const pid = worker.pid() ?? 0;
  const isAlive = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  const upload = () => user.post<{ detail: string }>('/upload_text', { contents: 'A lamp was lit at the pier.' });
  expect(isAlive()).toBe(true);
  await setVersion(SCHEMA_VERSION + 1);
  const refused = await waitFor(upload, ({ status }) => status !== 200);
  expect(refused).toMatchObject({ status: 503, body: { detail: expect.stringContaining('a newer Allotrope') } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await user.get('/ready')).toMatchObject({ status: 503 });
  expect(await user.get('/health')).toMatchObject({ status: 200 });
  expect(await user.post('/user_files_v2', {})).toMatchObject({ status: 200 });
  await waitFor(isAlive, (alive) => !alive);

  await setVersion(SCHEMA_VERSION);
  expect(await waitFor(upload, ({ status }) => status === 200)).toMatchObject({ status: 200 });
  await service.startWorker();
  await settledState();
});

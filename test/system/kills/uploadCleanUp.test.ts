import type { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { workflowIds } from '../../../contract/runs/workflowIds.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { readStoredState } from '../../support/storedState.js';
import type { TestUser } from '../../support/client.js';
import { testEngines } from '../../support/engines.js';
import { type FaultProxy, startFaultProxy } from '../../support/faultProxy.js';
import { startProcess } from '../../support/processes.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly } from '../../support/thorough.js';

/**
 * PENDING_ACTIVITY_STATE_CANCEL_REQUESTED:
 * https://github.com/temporalio/api/blob/master/temporal/api/enums/v1/workflow.proto
 */
const CANCEL_REQUESTED = 3;

// These tests cover batches that end between two of their writes, because Qdrant fails or the worker is killed.

let service: TestService;
let client: Client;
/** A proxy between the service and Qdrant. The service reaches MongoDB directly. */
let proxy: FaultProxy;

beforeAll(async () => {
  const { mongodbUri, qdrantUrl, temporalAddress } = testEngines();
  proxy = await startFaultProxy({ MONGODB_URI: mongodbUri, QDRANT_URL: qdrantUrl });
  service = await startService({ LOG_LEVEL: 'silent', QDRANT_URL: proxy.env.QDRANT_URL }, { worker: false });
  client = createTemporalClient({ address: temporalAddress, namespace: 'default' });
});
afterAll(async () => {
  await service.close();
  await proxy.close();
  await client.connection.close();
});
beforeEach(() => service.startWorker());
afterEach(() => service.stopWorker());

/** Work of a user on one text, and the key of the workflow that does the work. */
interface Work {
  /** Prepares the data for the work. Returns the id that `begin` receives. */
  prepare?(user: TestUser): Promise<number>;
  /** Starts the work. Returns the record of the text's file. */
  begin(user: TestUser, prepared: number): Promise<FileRecord>;
  keyOf(file: FileRecord): string;
}

const contents = 'The lamp was lit at the pier.';
const UPLOAD: Work = {
  begin: async (user) => (await user.post<FileRecord>('/upload_text', { contents })).body,
  keyOf: ({ organization_user_id: userId }) => workflowIds.uploads(userId ?? 0),
};
const RESYNC: Work = {
  async prepare(user) {
    const { id } = await user.settled((await UPLOAD.begin(user, 0)).id);
    await allEnded();
    return id;
  },
  // The option makes the content count as new.
  begin: async (user, id) => (await user.post<FileRecord>('/resync_file', { file_id: id, chunk_size: 100 })).body,
  keyOf: ({ id }) => workflowIds.resync(id),
};

/** Waits until all runs have ended. */
const allEnded = () =>
  waitFor(
    () => service.store.runs.listActiveStartedUntil(new Date(), 1),
    (runs) => runs.length === 0,
  );

/** Cancels a workflow. Resolves when its batch can no longer be retried. */
async function cancel(key: string): Promise<void> {
  const workflow = client.workflow.getHandle(service.names.idOf(key));
  await workflow.cancel();
  await waitFor(
    async () => (await workflow.describe()).raw.pendingActivities ?? [],
    (pending) => pending.every(({ state }) => state === CANCEL_REQUESTED),
  );
}

/** Starts work that stops before its points are written, after chunks and content. */
async function untilWritten({ prepare, begin }: Work, user: TestUser): Promise<FileRecord> {
  const prepared = (await prepare?.(user)) ?? 0;
  const reached = proxy.stopAt({ step: 'points', when: 'before', nth: 1 });
  const file = await begin(user, prepared);
  await reached;
  return file;
}

/** Starts work whose first attempt fails, and whose second stops between publishing and its cleanup. */
async function untilPublished(work: Work, user: TestUser): Promise<FileRecord> {
  const file = await untilWritten(work, user);
  proxy.reopen();
  await proxy.stopAt({ step: 'cleanPoints', when: 'before', nth: 1 });
  expect(await user.file(file.id)).toMatchObject({ sync_status: 'READY' });
  return file;
}

test('if an attempt of an upload fails after publishing, the next attempt cleans up', async () => {
  const user = await service.user('ada');
  const file = await untilPublished(UPLOAD, user);
  proxy.reopen();
  await allEnded();
  expect(await user.file(file.id)).toMatchObject({ sync_status: 'READY' });
  expect((await readStoredState(service.env)).findInconsistencies('ada')).toEqual([]);
});

thoroughly('emits FILE_READY before ALL_FILES_PROCESSED if the worker is killed right after publishing', async () => {
  await service.stopWorker();
  const stores = await startFaultProxy(service.env);
  const dying = await startProcess('worker/main', { ...service.env, ...stores.env });
  const published = stores.stopAt({ step: 'publish', when: 'after', nth: 1 });
  const file = await UPLOAD.begin(await service.user('dora'), 0);
  await published;
  await dying.kill();
  stores.reopen();
  await service.startWorker();
  await allEnded();
  const kinds = await waitFor(
    async () =>
      (await service.store.events.after(file.organization_id, 0, 10_000)).flatMap(({ kind, info }) =>
        info?.['request_id'] === file.request_id ? [kind] : [],
      ),
    (emitted) => emitted.includes('ALL_FILES_PROCESSED') && emitted.includes('FILE_READY'),
  );
  expect(kinds.indexOf('FILE_READY')).toBeLessThan(kinds.indexOf('ALL_FILES_PROCESSED'));
  await stores.close();
});

describe.each([
  ['the workflow that the uploads of a user share', UPLOAD, 'bea'],
  ['a resync', RESYNC, 'cleo'],
] as const)('%s', (_name, work, customerId) => {
  test('deletes the older generation when cancelled after publishing', async () => {
    const name = `${customerId}-1`;
    const user = await service.user(name);
    const file = await untilPublished(work, user);
    await cancel(work.keyOf(file));
    proxy.reopen();
    await allEnded();
    expect(await user.file(file.id)).toMatchObject({ sync_status: 'READY' });
    expect((await readStoredState(service.env)).findInconsistencies(name)).toEqual([]);
  });

  test('deletes the data that the attempt wrote when cancelled before publishing', async () => {
    const name = `${customerId}-2`;
    const user = await service.user(name);
    const file = await untilWritten(work, user);
    await cancel(work.keyOf(file));
    proxy.reopen();
    await allEnded();
    expect(await user.file(file.id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
    expect((await readStoredState(service.env)).findInconsistencies(name)).toEqual([]);
  });
});

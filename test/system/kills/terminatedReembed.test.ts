import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { createTemporalClient } from '../../../dispatch/client.js';
import { reapOnce } from '../../../dispatch/reaper.js';
import { createLog } from '../../../observability/log.js';
import { readStoredState } from '../../support/storedState.js';
import { withDatabase } from '../../support/mongo.js';
import { testEngines } from '../../support/engines.js';
import { type FaultProxy, startFaultProxy } from '../../support/faultProxy.js';
import { startProcess } from '../../support/processes.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

let service: TestService;
let client: Client;
let stores: FaultProxy;

beforeAll(async () => {
  service = await startService({ LOG_LEVEL: 'silent' });
  stores = await startFaultProxy(service.env);
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  const user = await service.user('ines');
  const { id } = await user.send({ name: 'pier.txt', content: 'The lamp was lit at the pier.' });
  expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
  await allRunsEnded();
  await service.stopWorker();
});
afterAll(async () => {
  await service.close();
  await stores.close();
  await client.connection.close();
});

const allRunsEnded = () =>
  waitFor(
    () => service.store.runs.listActiveStartedUntil(new Date(), 1),
    (runs) => runs.length === 0,
  );
const segments = () => withDatabase(service, (connection) => connection.collection('segments').countDocuments());

test('leaves no partial writes of a re-embedding that was terminated after its worker died', async () => {
  const worker = await startProcess('worker/main', { ...service.env, ...stores.env });
  const halfway = stores.stopAt({ step: 'points', when: 'before', nth: 1 });
  const [runId = 0] = await service.store.rebuilds.accept({ organizationId: null, customerId: null, space: null });
  await halfway;
  await worker.kill();
  stores.reopen();
  const run = await service.store.runs.find(runId);
  await client.workflow.getHandle(service.names.idOf(run?.workflowId ?? '')).terminate('test');
  // The chunks were copied for the new vectors.
  expect(await segments()).toBe(2);

  const log = createLog({ level: 'silent', name: 'test' });
  const reap = () => reapOnce({ client, names: service.names }, service.store, log, Date.now() + 60_000);
  expect(await reap()).toBe(1);
  await service.startWorker();
  await allRunsEnded();
  expect(await reap()).toBe(0);
  expect(await service.store.runs.find(runId)).toMatchObject({ outcome: 'aborted' });
  expect(await segments()).toBe(1);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

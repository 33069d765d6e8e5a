/** Tests of the workflow of webhook deliveries: its only activity fails, or it is cancelled or terminated. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { activityInfo as currentActivity } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { Activities } from '../../activities/index.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../dispatch/client.js';
import { type Receiver, startReceiver } from '../emulators/receiver.js';
import { testEngines } from '../support/engines.js';
import { loadProduct } from '../support/product.js';
import { quietTemporal } from '../support/quietTemporal.js';
import { waitFor } from '../support/waitFor.js';
import { startService, type TestService } from '../support/service.js';
import { thoroughRows } from '../support/thorough.js';

interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}
type FaultTime = 'before' | 'after';
let activityInfo: typeof currentActivity;
let service: TestService;
let client: Client;
let receiver: Receiver;
let organizationId: number;
let webhookId: number;
/** A disturbance of the next call of the activity. */
let disturbance: { readonly when: FaultTime; disturb(execution: Execution): Promise<void> } | null = null;
/** Number of calls of the activity, by workflow id. */
const calls = new Map<string, number>();

function withDisturbances(activities: Activities): Activities {
  return {
    ...activities,
    async deliverBatch(input) {
      const execution = activityInfo().workflowExecution ?? { workflowId: '', runId: '' };
      const { workflowId } = execution;
      calls.set(workflowId, (calls.get(workflowId) ?? 0) + 1);
      const now = disturbance;
      disturbance = null;
      if (now?.when === 'before') await now.disturb(execution);
      const answer = await activities.deliverBatch(input);
      if (now?.when === 'after') await now.disturb(execution);
      return answer;
    },
  };
}

beforeAll(async () => {
  await quietTemporal('ERROR');
  ({ activityInfo } = (await loadProduct()).activity);
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  service = await startService(
    {
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      LOG_LEVEL: 'silent',
      REAP_INTERVAL_S: '1',
      WEBHOOK_RETRY_DELAYS_S: '1,1,1,1,1,1',
    },
    { worker: false },
  );
  await service.startWorker(withDisturbances);
});
afterAll(async () => {
  await service.close();
  await client.connection.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
  ({ organizationId } = await service.store.organizations.create('one'));
  const webhook = await service.store.transaction((session) =>
    service.store.webhooks.add(organizationId, receiver.url, '00'.repeat(32), session),
  );
  webhookId = webhook?._id ?? 0;
});
afterEach(async () => {
  await receiver.close();
});

const writeEvents = (...ids: number[]) =>
  service.store.events.write(
    ids.map((id) => ({ kind: 'FILE_READY', organizationId, customerId: 'ada', objectId: String(id), info: null })),
    null,
  );
const readyEvents = (...ids: number[]): string[] => ids.map((id) => `FILE_READY ${id}`);
const workflow = () => client.workflow.getHandle(service.names.idOf(workflowIds.deliverEvents(webhookId)));
const fail = (): Promise<void> => Promise.reject(new Error('a failure of the test'));
/** The execution that was cancelled. */
let cancelled: Execution | null = null;
const cancel = async (execution: Execution): Promise<void> => {
  cancelled = execution;
  await client.workflow.getHandle(execution.workflowId, execution.runId).cancel();
  await sleep(500);
};

test.each<FaultTime>(['after', ...thoroughRows(['before'])])(
  'retries a batch that fails %s its work, and delivers each event once',
  async (when) => {
    disturbance = { when, disturb: fail };
    await writeEvents(1, 2, 3);
    await receiver.waitForAccepted(3);
    await writeEvents(4);
    await receiver.waitForAccepted(4);
    expect(disturbance).toBeNull();
    expect(receiver.arrived().toSorted()).toEqual(readyEvents(1, 2, 3, 4));
  },
);

test.each<FaultTime>(['after', ...thoroughRows(['before'])])(
  'ends when it is cancelled %s its work; the next event starts it again, and no event is lost',
  async (when) => {
    cancelled = null;
    disturbance = { when, disturb: cancel };
    await writeEvents(1, 2);
    const execution = await waitFor(
      () => cancelled,
      (current) => current !== null,
    );
    const { workflowId, runId } = execution ?? { workflowId: '', runId: '' };
    await expect(client.workflow.getHandle(workflowId, runId).result()).rejects.toThrow(/cancel/i);
    await writeEvents(3);
    await receiver.waitForAccepted(3);
    expect(new Set(receiver.accepted())).toEqual(new Set(readyEvents(1, 2, 3)));
    expect(receiver.arrived()).toHaveLength(3);
  },
);

test('is started again without a new event if it was terminated while a delivery waits for its retry', async () => {
  receiver.reactWith(() => 500);
  await writeEvents(1);
  await waitFor(
    () => receiver.received.length,
    (count) => count > 0,
  );
  await workflow().terminate('by the test');
  receiver.reactWith(() => 200);
  await receiver.waitForAccepted(1);
  expect(receiver.accepted()).toEqual(readyEvents(1));
});

test('runs no activity while there are no events', async () => {
  await writeEvents(1);
  await receiver.waitForAccepted(1);
  const id = service.names.idOf(workflowIds.deliverEvents(webhookId));
  await waitFor(
    () => service.store.webhooks.find(webhookId),
    (webhook) => webhook?.wake === null,
  );
  const callsBefore = calls.get(id);
  await sleep(2_500);
  expect(calls.get(id)).toBe(callsBefore);
  expect((await workflow().describe()).status.name).toBe('RUNNING');
});

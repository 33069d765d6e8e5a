import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { expect, test } from '@jest/globals';

import { createTemporalClient } from '../../dispatch/client.js';
import { testEngines } from '../support/engines.js';
import { loadProduct } from '../support/product.js';
import { quietTemporal } from '../support/quietTemporal.js';
import { waitFor } from '../support/waitFor.js';

const WORKFLOW_BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url));
const SINKS = { traces: { ended: { fn: () => undefined } } };

/**
 * Runs a scheduled sync with fake activities until its first part, a listing, reads a page. That activity lasts until the
 * listing is cancelled.
 * @param end cancels or terminates the sync
 * @returns the last steps of the listing and of the sync, after both have ended
 */
async function lastStepsAfter(end: (handle: WorkflowHandle) => Promise<unknown>): Promise<string[]> {
  const { activity, sdk } = await loadProduct();
  const { temporalAddress: address } = testEngines();
  await quietTemporal('ERROR');
  const taskQueue = `part-${randomUUID()}`;
  const connection = await sdk.NativeConnection.connect({ address });
  const client = createTemporalClient({ address, namespace: 'default' });
  const lastSteps: string[] = [];
  let isListing = false;
  const part = { runId: 8, kind: 'syncItems', workflowId: `${taskQueue}-part` };
  const worker = await sdk.Worker.create({
    ...{ connection, taskQueue, workflowBundle: { codePath: WORKFLOW_BUNDLE }, sinks: SINKS },
    maxHeartbeatThrottleInterval: '100ms',
    activities: {
      acceptPass: () => Promise.resolve({ runId: 7 }),
      nextPart: () => Promise.resolve({ part: { ...part, attributes: { OrganizationId: '1', UserId: '2' } } }),
      beginListing: () => Promise.resolve({ finished: false }),
      async listItems() {
        isListing = true;
        const timer = setInterval(() => activity.heartbeat(), 100);
        return activity.Context.current().cancelled.finally(() => clearInterval(timer));
      },
      endListing: ({ outcome }: { outcome: string }) => Promise.resolve(void lastSteps.push(`listing ${outcome}`)),
      endPass: ({ outcome }: { outcome: string }) => Promise.resolve(void lastSteps.push(`sync ${outcome}`)),
    },
  });
  await worker.runUntil(async () => {
    const handle = await client.workflow.start('autoSync', { taskQueue, workflowId: taskQueue, args: [{}] });
    await waitFor(
      () => isListing,
      (listing) => listing,
    );
    await end(handle);
    await handle.result().catch(() => undefined);
    const child = client.workflow.getHandle(part.workflowId);
    try {
      await waitFor(
        async () => (await child.describe()).status.name,
        (status) => status !== 'RUNNING',
        20_000,
      );
    } finally {
      await child.terminate().catch(() => undefined);
    }
  });
  await client.connection.close();
  await connection.close();
  return lastSteps;
}

test('a scheduled sync that is cancelled ends after its running part', async () => {
  expect(await lastStepsAfter((handle) => handle.cancel())).toEqual(['listing aborted', 'sync aborted']);
});

test('a scheduled sync that is terminated cancels its running part', async () => {
  expect(await lastStepsAfter((handle) => handle.terminate('test'))).toEqual(['listing aborted']);
});

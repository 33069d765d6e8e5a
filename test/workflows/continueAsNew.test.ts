import { randomBytes, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

import type { PlanBatchesInput, RunInput } from '../../contract/runs/orchestration.js';
import type { AutoSyncInput } from '../../contract/runs/autoSync.js';
import { createTemporalClient } from '../../dispatch/client.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';
import { loadProduct } from '../support/product.js';
import { quietTemporal } from '../support/quietTemporal.js';

const WORKFLOW_BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url));
const SINKS = { traces: { ended: { fn: () => undefined } } };
const RUN_ID = 7;
const MB = 1024 * 1024;

/**
 * Runs a workflow with fake activities. Signals during the first activity grow the history beyond 4 MiB, above which
 * Temporal suggests continue-as-new. https://github.com/temporalio/temporal/blob/main/common/dynamicconfig/constants.go
 * (limit.historySize.suggestContinueAsNew)
 * @param activities receive whether the execution was continued as new, and the input
 * @returns the statuses of the first and the last execution, and the result
 */
async function runGrown(
  type: string,
  input: AutoSyncInput | RunInput,
  activities: Readonly<Record<string, (isContinued: boolean, input: unknown) => unknown>>,
) {
  const { activity, sdk } = await loadProduct();
  const { temporalAddress: address } = testEngines();
  await quietTemporal('ERROR');
  const taskQueue = `grown-${randomUUID()}`;
  const connection = await sdk.NativeConnection.connect({ address });
  const client = createTemporalClient({ address, namespace: 'default' });
  let firstRunId = '';
  let grow = (): void => undefined;
  const grown = new Promise<void>((resolve) => (grow = resolve));
  const steps = Object.entries(activities).map(([name, step]) => [
    name,
    async (stepInput: unknown) => {
      await grown;
      const { workflowExecution, workflowType } = activity.activityInfo();
      return step(workflowType === type && workflowExecution?.runId !== firstRunId, stepInput);
    },
  ]);
  const workflowBundle = { codePath: WORKFLOW_BUNDLE };
  const worker = await sdk.Worker.create({
    ...{ connection, taskQueue, workflowBundle, sinks: SINKS },
    activities: Object.fromEntries(steps) as Record<string, () => Promise<unknown>>,
  });
  const result: unknown = await worker.runUntil(async () => {
    const handle = await client.workflow.start(type, { taskQueue, workflowId: taskQueue, args: [input] });
    firstRunId = handle.firstExecutionRunId;
    for (let sent = 0; sent <= 4 * MB; sent += 1.5 * MB)
      await handle.signal('grow', randomBytes(1.5 * MB * 0.75).toString('base64'));
    grow();
    return handle.result();
  });
  const firstExecution = client.workflow.getHandle(taskQueue, firstRunId);
  const statuses = [await firstExecution.describe(), await client.workflow.getHandle(taskQueue).describe()].map(
    ({ status }) => status.name,
  );
  await client.connection.close();
  await connection.close();
  return { statuses, result };
}

test("the deletion of a user continues as new while it waits for the user's runs to end", async () => {
  const calls: string[] = [];
  const { statuses } = await runGrown(
    'deleteUser',
    { runId: RUN_ID },
    {
      removeSchedules: () => void calls.push('removeSchedules'),
      stopUserRuns: (isContinued) => ({ workflowIds: isContinued ? [] : ['unknown-workflow'] }),
      eraseFiles: () => ({ erased: 0 }),
      finishUserDelete: () => (calls.push('finishUserDelete'), { again: false }),
    },
  );
  expect(statuses).toEqual(['CONTINUED_AS_NEW', 'COMPLETED']);
  expect(calls).toEqual(['removeSchedules', 'removeSchedules', 'finishUserDelete']);
});

test('a scheduled sync of many parts continues as new between two parts, as the same sync', async () => {
  const calls: string[] = [];
  let part = 0;
  const { statuses, result } = await runGrown(
    'autoSync',
    { scheduleId: 'auto-sync:1' },
    {
      acceptPass: () => (calls.push('acceptPass'), { runId: RUN_ID }),
      nextPart(isContinued) {
        if (isContinued && part > 1) return { part: null };
        part += 1;
        const workflowId = `part-${randomUUID()}`;
        return { part: { runId: part, kind: 'recountFiles', workflowId, attributes: { UserId: '1' } } };
      },
      sumFiles: () => void calls.push('part'),
      finishRecount: () => undefined,
      endPass: () => void calls.push('endPass'),
    },
  );
  expect(statuses).toEqual(['CONTINUED_AS_NEW', 'COMPLETED']);
  expect(calls).toEqual(['acceptPass', 'part', 'part', 'endPass']);
  expect(result).toEqual({ outcome: 'finished', parts: 2 });
});

test('a sync of many items continues as new while it queues them, and resumes from its run record', async () => {
  const calls: string[] = [];
  const { statuses, result } = await runGrown(
    'syncSource',
    { runId: RUN_ID },
    {
      beginRun: () => ({ finished: false }),
      queueItems(isContinued) {
        calls.push('queueItems');
        return { done: isContinued, discovered: isContinued ? 9 : 4 };
      },
      planBatches: () => ({ batches: [], window: 2, afterId: 0, dueInMs: null }),
      finishRun: () => void calls.push('finishRun'),
    },
  );
  expect(statuses).toEqual(['CONTINUED_AS_NEW', 'COMPLETED']);
  expect(calls).toEqual(['queueItems', 'queueItems', 'finishRun']);
  expect(result).toMatchObject({ outcome: 'finished', discovered: 9 });
});

test('an ingest run resumes from its cursor with its counts, and keeps its choice to delete missing pages', async () => {
  await everyRow([true, false], String, async (deletesGonePages) => {
    const calls: string[] = [];
    let continued = 0;
    const { statuses, result } = await runGrown(
      'scrapeSitemap',
      { runId: RUN_ID },
      {
        // Calls before continue-as-new are not recorded: this is a local activity, which may run twice because the
        // large signals may cause a second attempt of its workflow task.
        beginRun(isContinued) {
          if (isContinued) calls.push('beginRun');
          return { finished: false, deletesGonePages };
        },
        discoverPages: () => (calls.push('discoverPages'), { discovered: 5 }),
        planBatches(isContinued, input) {
          const { runId, afterId } = input as PlanBatchesInput;
          calls.push(`plan ${runId} after ${afterId}`);
          if (!isContinued) return { batches: [[1, 2]], window: 2, afterId: 9, dueInMs: null };
          continued += 1;
          return { batches: continued === 1 ? [[10]] : [], window: 2, afterId: 0, dueInMs: null };
        },
        ingestBatch: (isContinued) => ({
          ...(isContinued
            ? { ready: 1, failed: 0, requeued: 0, superseded: 0 }
            : { ready: 1, failed: 1, requeued: 1, superseded: 1 }),
          alone: [],
        }),
        deleteGonePages: () => void calls.push('deleteGonePages'),
        finishRun: () => void calls.push('finishRun'),
      },
    );
    expect(statuses).toEqual(['CONTINUED_AS_NEW', 'COMPLETED']);
    expect(calls).toEqual([
      ...['discoverPages', 'plan 7 after 0', 'plan 7 after 9', 'plan 7 after 0'],
      ...(deletesGonePages ? ['deleteGonePages'] : []),
      'finishRun',
    ]);
    const counts = { ready: 2, failed: 1, requeued: 1, superseded: 1 };
    expect(result).toEqual({ outcome: 'finished', discovered: 5, counts });
  });
});

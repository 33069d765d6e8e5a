import { afterEach, expect, jest, test } from '@jest/globals';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';

import { deliveryQueue, ocrQueue, transcriptionQueue } from '../../contract/runs/workflowIds.js';
import { createTemporalWorkers } from '../../worker/temporalWorkers.js';

afterEach(() => void jest.restoreAllMocks());

/** Returns a worker that runs until it is shut down or `fail` is called. */
function fakeWorker() {
  let state = 'INITIALIZED';
  let settle = { resolve: (): void => undefined, reject: (_error: Error): void => undefined };
  return {
    getState: () => state,
    run: () => {
      state = 'RUNNING';
      return new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
    },
    shutdown: () => {
      state = 'STOPPED';
      settle.resolve();
    },
    fail(error: Error) {
      state = 'FAILED';
      settle.reject(error);
    },
  };
}
const ACTIVITIES = ['beginRun', 'deliverBatch', 'transcribe', 'recognize'];
async function create() {
  const fakes: ReturnType<typeof fakeWorker>[] = [];
  const options: WorkerOptions[] = [];
  const close = jest.fn(async () => undefined);
  jest.spyOn(NativeConnection, 'connect').mockResolvedValue({ close } as never);
  jest.spyOn(Worker, 'create').mockImplementation(async (workerOptions) => {
    options.push(workerOptions);
    const fake = fakeWorker();
    fakes.push(fake);
    return fake as never;
  });
  const settings = { address: 'a', namespace: 'n', taskQueue: 'q' };
  const concurrency = { activityConcurrency: 3, ocrConcurrency: 4, transcriptionConcurrency: 5 };
  const activities = Object.fromEntries(ACTIVITIES.map((name) => [name, () => undefined]));
  const workers = await createTemporalWorkers({ ...settings, ...concurrency }, activities as never, {} as never);
  return { workers, fakes, options, close, states: () => new Set(fakes.map((fake) => fake.getState())) };
}

test('if one worker fails, the others are shut down, and the run rejects after they have ended', async () => {
  const { workers, fakes, states, close } = await create();
  const running = workers.run();
  fakes[1]!.fail(new Error('the namespace does not exist'));
  await expect(running).rejects.toThrow('the namespace does not exist');
  expect(states()).toEqual(new Set(['STOPPED', 'FAILED']));
  await workers.close();
  expect(close).toHaveBeenCalledTimes(1);
});

test('workers that are shut down before run() never poll, and close() does not close their connection', async () => {
  const { workers, states, close } = await create();
  workers.shutdown();
  await workers.run();
  expect(states()).toEqual(new Set(['INITIALIZED']));
  await workers.close();
  expect(close).not.toHaveBeenCalled();
});

test('deliveries, transcriptions and OCR have queues of their own, each with its configured concurrency', async () => {
  const { options } = await create();
  const queues = options.map(({ taskQueue, activities, maxConcurrentActivityTaskExecutions }) => [
    ...[taskQueue, Object.keys(activities ?? {}), maxConcurrentActivityTaskExecutions],
  ]);
  expect(queues).toEqual([
    ['q', ACTIVITIES, 3],
    [deliveryQueue('q'), ['deliverBatch'], 50],
    [transcriptionQueue('q'), ['transcribe'], 5],
    [ocrQueue('q'), ['recognize'], 4],
  ]);
  // An activity receives its cancellation with a heartbeat, so the SDK may delay heartbeats by at most one second.
  expect(
    new Set(
      options.map(({ namespace, maxHeartbeatThrottleInterval }) => [namespace, maxHeartbeatThrottleInterval].join()),
    ),
  ).toEqual(new Set(['n,1 second']));
});

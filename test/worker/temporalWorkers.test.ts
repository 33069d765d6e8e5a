import { afterEach, expect, jest, test } from '@jest/globals';
import { NativeConnection, Worker } from '@temporalio/worker';

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
async function create() {
  const fakes: ReturnType<typeof fakeWorker>[] = [];
  const close = jest.fn(async () => undefined);
  jest.spyOn(NativeConnection, 'connect').mockResolvedValue({ close } as never);
  jest.spyOn(Worker, 'create').mockImplementation(async () => {
    const fake = fakeWorker();
    fakes.push(fake);
    return fake as never;
  });
  const settings = { address: 'a', namespace: 'n', taskQueue: 'q' };
  const concurrency = { activityConcurrency: 1, ocrConcurrency: 1, transcriptionConcurrency: 1 };
  const workers = await createTemporalWorkers({ ...settings, ...concurrency }, {} as never, {} as never);
  return { workers, fakes, close, states: () => new Set(fakes.map((fake) => fake.getState())) };
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

test('workers that were shut down before they ran never poll, and their connection is left to the process', async () => {
  const { workers, states, close } = await create();
  workers.shutdown();
  await workers.run();
  expect(states()).toEqual(new Set(['INITIALIZED']));
  await workers.close();
  expect(close).not.toHaveBeenCalled();
});

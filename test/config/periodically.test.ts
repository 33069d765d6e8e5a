import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from '@jest/globals';

import { periodically } from '../../config/process/periodically.js';

test('runs an iteration, waits, and runs the next one, until the signal aborts', async () => {
  const stopping = new AbortController();
  let iterations = 0;
  const iteration = async (): Promise<void> => {
    iterations += 1;
    if (iterations === 3) stopping.abort();
  };
  await periodically(iteration, { intervalMs: 1, signal: stopping.signal, onError: () => undefined });
  expect(iterations).toBe(3);
});

test('reports a failed iteration and runs the next one', async () => {
  const failures: unknown[] = [];
  let iterations = 0;
  const iteration = async (): Promise<number | void> => {
    iterations += 1;
    if (iterations < 3) throw new Error(`failure ${iterations}`);
    return Infinity;
  };
  const { signal } = new AbortController();
  await periodically(iteration, { intervalMs: 1, signal, onError: (error) => failures.push((error as Error).message) });
  expect(failures).toEqual(['failure 1', 'failure 2']);
});

test('waits after a failed iteration as long as after a successful one', async () => {
  const stopping = new AbortController();
  let iterations = 0;
  const iteration = async (): Promise<void> => {
    iterations += 1;
    if (iterations > 1) stopping.abort();
    else setImmediate(() => stopping.abort());
    throw new Error('a failure');
  };
  await periodically(iteration, { intervalMs: 1_000_000, signal: stopping.signal, onError: () => undefined });
  expect(iterations).toBe(1);
});

test('ends a long wait immediately when the signal aborts', async () => {
  const stopping = new AbortController();
  let iterations = 0;
  const iteration = async (): Promise<void> => {
    iterations += 1;
    setImmediate(() => stopping.abort());
  };
  await periodically(iteration, { intervalMs: 1_000_000, signal: stopping.signal, onError: () => undefined });
  expect(iterations).toBe(1);
});

test('waits for the time that the iteration returns, and ends the loop if it returns Infinity', async () => {
  let iterations = 0;
  const iteration = async (): Promise<number> => {
    iterations += 1;
    return iterations < 5 ? 0 : Infinity;
  };
  await periodically(iteration, {
    intervalMs: 1_000_000,
    signal: new AbortController().signal,
    onError: () => undefined,
  });
  expect(iterations).toBe(5);
});

test('waits before the first iteration with waitsFirst, and runs none if it is aborted meanwhile', async () => {
  const stopping = new AbortController();
  setImmediate(() => stopping.abort());
  let iterations = 0;
  const iteration = async (): Promise<void> => {
    iterations += 1;
  };
  const { signal } = stopping;
  await periodically(iteration, { intervalMs: 1_000_000, signal, onError: () => undefined, waitsFirst: true });
  expect(iterations).toBe(0);
});

test('does not repeat a task at once if the interval is longer than a timer allows', async () => {
  const stopping = new AbortController();
  const { signal } = stopping;
  let iterations = 0;
  const iteration = async (): Promise<void> => {
    iterations += 1;
  };
  const ended = periodically(iteration, { intervalMs: 2 ** 31, signal, onError: () => undefined, waitsFirst: true });
  // Node replaces a delay above its maximum by 1 ms, so the task would run during this wait.
  await sleep(20);
  stopping.abort();
  await ended;
  expect(iterations).toBe(0);
});

import { expect, test } from '@jest/globals';

import { periodically } from '../../config/process/periodically.js';

test('runs a round, waits, and runs the next one, until the signal aborts', async () => {
  const stopping = new AbortController();
  let rounds = 0;
  const round = async (): Promise<void> => {
    rounds += 1;
    if (rounds === 3) stopping.abort();
  };
  await periodically(round, { intervalMs: 1, signal: stopping.signal, onError: () => undefined });
  expect(rounds).toBe(3);
});

test('reports a failed round and runs the next one', async () => {
  const failures: unknown[] = [];
  let rounds = 0;
  const round = async (): Promise<number | void> => {
    rounds += 1;
    if (rounds < 3) throw new Error(`failure ${rounds}`);
    return Infinity;
  };
  const { signal } = new AbortController();
  await periodically(round, { intervalMs: 1, signal, onError: (error) => failures.push((error as Error).message) });
  expect(failures).toEqual(['failure 1', 'failure 2']);
});

test('waits after a failed round as after any other', async () => {
  const stopping = new AbortController();
  let rounds = 0;
  const round = async (): Promise<void> => {
    rounds += 1;
    if (rounds > 1) stopping.abort();
    else setImmediate(() => stopping.abort());
    throw new Error('a failure');
  };
  await periodically(round, { intervalMs: 1_000_000, signal: stopping.signal, onError: () => undefined });
  expect(rounds).toBe(1);
});

test('ends a long wait at once on abort', async () => {
  const stopping = new AbortController();
  let rounds = 0;
  const round = async (): Promise<void> => {
    rounds += 1;
    setImmediate(() => stopping.abort());
  };
  await periodically(round, { intervalMs: 1_000_000, signal: stopping.signal, onError: () => undefined });
  expect(rounds).toBe(1);
});

test('waits as long as the round returns, and ends the loop on Infinity', async () => {
  let rounds = 0;
  const round = async (): Promise<number> => {
    rounds += 1;
    return rounds < 5 ? 0 : Infinity;
  };
  await periodically(round, {
    intervalMs: 1_000_000,
    signal: new AbortController().signal,
    onError: () => undefined,
  });
  expect(rounds).toBe(5);
});

test('waits before the first round with waitsFirst, and runs none if it is aborted meanwhile', async () => {
  const stopping = new AbortController();
  setImmediate(() => stopping.abort());
  let rounds = 0;
  const round = async (): Promise<void> => {
    rounds += 1;
  };
  const { signal } = stopping;
  await periodically(round, { intervalMs: 1_000_000, signal, onError: () => undefined, waitsFirst: true });
  expect(rounds).toBe(0);
});

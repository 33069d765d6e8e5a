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

test('a failed round is reported, and the next one runs all the same', async () => {
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

test('an abort ends a wait at once, however long it is', async () => {
  const stopping = new AbortController();
  let rounds = 0;
  const round = async (): Promise<void> => {
    rounds += 1;
    setImmediate(() => stopping.abort());
  };
  await periodically(round, { intervalMs: 1_000_000, signal: stopping.signal, onError: () => undefined });
  expect(rounds).toBe(1);
});

test('a round may shorten the wait for the next one; Infinity ends the loop', async () => {
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

test('waitsFirst waits before the first round, too, and runs none when it is aborted meanwhile', async () => {
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

import { expect, test } from '@jest/globals';

import { createSingleFlight } from '../../store/vectors/singleFlight.js';

const NEVER = new AbortController().signal;
const upperCased = (keys: readonly string[]) => new Map(keys.map((key) => [key, key.toUpperCase()]));

/** Returns a function that waits for `release`, and the keys that it was called with. */
function createPendingFactory() {
  const requested: string[][] = [];
  let release: (fails: boolean) => void = () => undefined;
  const released = new Promise<boolean>((resolve) => (release = resolve));
  const make = async (keys: readonly string[]): Promise<Map<string, string>> => {
    requested.push([...keys]);
    if (await released) throw new Error('failed');
    return upperCased(keys);
  };
  return { requested, make, release };
}

test('two concurrent callers share one computation per key', async () => {
  const flight = createSingleFlight<string>();
  const { requested, make, release } = createPendingFactory();
  const first = flight.get(['a', 'b', 'a'], make, NEVER);
  const second = flight.get(['b', 'c'], make, NEVER);
  expect(requested).toEqual([['a', 'b'], ['c']]);
  release(false);
  expect(await first).toEqual(upperCased(['a', 'b']));
  expect(await second).toEqual(upperCased(['b', 'c']));
});

test('a waiting caller computes a value itself after the first caller fails', async () => {
  const flight = createSingleFlight<string>();
  const { make, release } = createPendingFactory();
  const first = flight.get(['a'], make, NEVER);
  const second = flight.get(['a'], async (keys) => upperCased(keys), NEVER);
  release(true);
  await expect(first).rejects.toThrow('failed');
  expect(await second).toEqual(upperCased(['a']));
});

test('an aborted caller stops waiting', async () => {
  const flight = createSingleFlight<string>();
  const { make, release } = createPendingFactory();
  const first = flight.get(['a'], make, NEVER);
  const aborted = new AbortController();
  const second = flight.get(['a'], make, aborted.signal);
  aborted.abort(new Error('no longer wanted'));
  await expect(second).rejects.toThrow('no longer wanted');
  release(false);
  expect(await first).toEqual(upperCased(['a']));
});

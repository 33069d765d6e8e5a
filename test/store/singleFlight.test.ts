import { expect, test } from '@jest/globals';

import { createSingleFlight } from '../../store/vectors/singleFlight.js';

const NEVER = new AbortController().signal;
const all = (keys: readonly string[]) => new Map(keys.map((key) => [key, key.toUpperCase()]));

/** Returns a function that waits for `release`, and the keys that it was called with. */
function createPendingFactory() {
  const requested: string[][] = [];
  let release: (fails: boolean) => void = () => undefined;
  const held = new Promise<boolean>((resolve) => (release = resolve));
  const make = async (keys: readonly string[]): Promise<Map<string, string>> => {
    requested.push([...keys]);
    if (await held) throw new Error('failed');
    return all(keys);
  };
  return { requested, make, release };
}

test('two concurrent callers share one computation per key', async () => {
  const once = createSingleFlight<string>();
  const { requested, make, release } = createPendingFactory();
  const first = once.get(['a', 'b', 'a'], make, NEVER);
  const second = once.get(['b', 'c'], make, NEVER);
  expect(requested).toEqual([['a', 'b'], ['c']]);
  release(false);
  expect(await first).toEqual(all(['a', 'b']));
  expect(await second).toEqual(all(['b', 'c']));
});

test('a waiting caller computes a value itself after the first caller fails', async () => {
  const once = createSingleFlight<string>();
  const { make, release } = createPendingFactory();
  const first = once.get(['a'], make, NEVER);
  const second = once.get(['a'], async (keys) => all(keys), NEVER);
  release(true);
  await expect(first).rejects.toThrow('failed');
  expect(await second).toEqual(all(['a']));
});

test('an aborted caller stops waiting', async () => {
  const once = createSingleFlight<string>();
  const { make, release } = createPendingFactory();
  const first = once.get(['a'], make, NEVER);
  const aborted = new AbortController();
  const second = once.get(['a'], make, aborted.signal);
  aborted.abort(new Error('no longer wanted'));
  await expect(second).rejects.toThrow('no longer wanted');
  release(false);
  expect(await first).toEqual(all(['a']));
});

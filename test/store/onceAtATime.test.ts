import { expect, test } from '@jest/globals';

import { createOnceAtATime } from '../../store/vectors/onceAtATime.js';

const NEVER = new AbortController().signal;
const all = (keys: readonly string[]) => new Map(keys.map((key) => [key, key.toUpperCase()]));

/** A maker that waits until it is let go, and notes what it was asked for. */
function heldMaker() {
  const asked: string[][] = [];
  let go: (fails: boolean) => void = () => undefined;
  const held = new Promise<boolean>((resolve) => (go = resolve));
  const make = async (keys: readonly string[]): Promise<Map<string, string>> => {
    asked.push([...keys]);
    if (await held) throw new Error('gave up');
    return all(keys);
  };
  return { asked, make, go };
}

test('what two want at once is made once', async () => {
  const once = createOnceAtATime<string>();
  const { asked, make, go } = heldMaker();
  const first = once.get(['a', 'b', 'a'], make, NEVER);
  const second = once.get(['b', 'c'], make, NEVER);
  expect(asked).toEqual([['a', 'b'], ['c']]);
  go(false);
  expect(await first).toEqual(all(['a', 'b']));
  expect(await second).toEqual(all(['b', 'c']));
});

test('what its maker gave up on is made by who waited', async () => {
  const once = createOnceAtATime<string>();
  const { make, go } = heldMaker();
  const first = once.get(['a'], make, NEVER);
  const second = once.get(['a'], async (keys) => all(keys), NEVER);
  go(true);
  await expect(first).rejects.toThrow('gave up');
  expect(await second).toEqual(all(['a']));
});

test('who is aborted waits for nobody', async () => {
  const once = createOnceAtATime<string>();
  const { make, go } = heldMaker();
  const first = once.get(['a'], make, NEVER);
  const aborted = new AbortController();
  const second = once.get(['a'], make, aborted.signal);
  aborted.abort(new Error('no longer wanted'));
  await expect(second).rejects.toThrow('no longer wanted');
  go(false);
  expect(await first).toEqual(all(['a']));
});

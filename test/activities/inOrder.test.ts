import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';

import { inOrder } from '../../activities/webhooks/inOrder.js';

interface Item {
  readonly name: string;
  readonly objects: readonly string[];
}
const item = (name: string, ...objects: string[]): Item => ({ name, objects });

/** Returns starts (`+`) and ends (`-`) in their order; names that end in 1 take longer than others. */
async function processAll(items: readonly Item[], atOnce: number): Promise<string[]> {
  const steps: string[] = [];
  await inOrder(
    items,
    ({ objects }) => objects,
    atOnce,
    async ({ name }) => {
      steps.push(`+${name}`);
      await sleep(name.endsWith('1') ? 30 : 1);
      steps.push(`-${name}`);
    },
  );
  return steps;
}

describe('ordered processing of items', () => {
  test('processes items of one object one after another, and items of other objects meanwhile', async () => {
    const steps: string[] = [];
    let otherEnded = (): void => undefined;
    const otherEnd = new Promise<void>((resolve) => (otherEnded = resolve));
    await inOrder(
      [item('a1', 'FILE:1'), item('a2', 'FILE:1'), item('b2', 'FILE:2')],
      ({ objects }) => objects,
      8,
      async ({ name }) => {
        steps.push(`+${name}`);
        // a1 ends only after b2, an item of another object.
        if (name === 'a1') await otherEnd;
        steps.push(`-${name}`);
        if (name === 'b2') otherEnded();
      },
    );
    expect(steps).toEqual(['+a1', '+b2', '-b2', '-a1', '+a2', '-a2']);
  });
  test('an item with several objects, or without a file, waits for all earlier items and blocks all later ones', async () => {
    for (const wide of [item('w1', 'FILE:1', 'FILE:2'), item('w1', 'UPLOAD_REQUEST_ID:x')]) {
      const steps = await processAll([item('a1', 'FILE:1'), wide, item('b2', 'FILE:2')], 8);
      expect(steps).toEqual(['+a1', '-a1', '+w1', '-w1', '+b2', '-b2']);
    }
  });
  test('processes at most the given number of items at once', async () => {
    let [running, maximum] = [0, 0];
    const items = Array.from({ length: 30 }, (_, index) => item(String(index), `FILE:${index}`));
    await inOrder(
      items,
      ({ objects }) => objects,
      4,
      async () => {
        running += 1;
        maximum = Math.max(maximum, running);
        await sleep(2);
        running -= 1;
      },
    );
    expect(maximum).toBe(4);
  });
  test('an error reaches the caller after all running items have ended', async () => {
    let isEnded = false;
    const slow = async ({ name }: Item): Promise<void> => {
      if (name === 'bad') throw new Error('the fault');
      await sleep(30);
      isEnded = true;
    };
    const items = [item('bad', 'FILE:1'), item('slow', 'FILE:2')];
    await expect(inOrder(items, ({ objects }) => objects, 8, slow)).rejects.toThrow('the fault');
    expect(isEnded).toBe(true);
  });
});

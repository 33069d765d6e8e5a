import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';

import { inOrder } from '../../activities/webhooks/inOrder.js';

interface Item {
  readonly name: string;
  readonly objects: readonly string[];
}
const item = (name: string, ...objects: string[]): Item => ({ name, objects });

/** What begins (`+`) and ends (`-`), in its order; the first of each object takes longer than the rest. */
async function play(items: readonly Item[], atOnce: number): Promise<string[]> {
  const told: string[] = [];
  await inOrder(
    items,
    ({ objects }) => objects,
    atOnce,
    async ({ name }) => {
      told.push(`+${name}`);
      await sleep(name.endsWith('1') ? 30 : 1);
      told.push(`-${name}`);
    },
  );
  return told;
}

describe('items in order', () => {
  test('those of one object follow each other, those of others do not wait', async () => {
    const told: string[] = [];
    let otherEnded = (): void => undefined;
    const other = new Promise<void>((resolve) => (otherEnded = resolve));
    await inOrder(
      [item('a1', 'FILE:1'), item('a2', 'FILE:1'), item('b2', 'FILE:2')],
      ({ objects }) => objects,
      8,
      async ({ name }) => {
        told.push(`+${name}`);
        // The first of its object takes longer than what is about another.
        if (name === 'a1') await other;
        told.push(`-${name}`);
        if (name === 'b2') otherEnded();
      },
    );
    expect(told).toEqual(['+a1', '+b2', '-b2', '-a1', '+a2', '-a2']);
  });
  test('one about several objects, or about no file, waits for all before it and holds back all after it', async () => {
    for (const wide of [item('w1', 'FILE:1', 'FILE:2'), item('w1', 'UPLOAD_REQUEST_ID:x')]) {
      const told = await play([item('a1', 'FILE:1'), wide, item('b2', 'FILE:2')], 8);
      expect(told).toEqual(['+a1', '-a1', '+w1', '-w1', '+b2', '-b2']);
    }
  });
  test('no more than so many are under way at once', async () => {
    let [now, most] = [0, 0];
    const items = Array.from({ length: 30 }, (_, index) => item(String(index), `FILE:${index}`));
    await inOrder(
      items,
      ({ objects }) => objects,
      4,
      async () => {
        now += 1;
        most = Math.max(most, now);
        await sleep(2);
        now -= 1;
      },
    );
    expect(most).toBe(4);
  });
  test('a fault reaches the caller once nothing is at work any more', async () => {
    let ended = false;
    const slow = async ({ name }: Item): Promise<void> => {
      if (name === 'bad') throw new Error('the fault');
      await sleep(30);
      ended = true;
    };
    const items = [item('bad', 'FILE:1'), item('slow', 'FILE:2')];
    await expect(inOrder(items, ({ objects }) => objects, 8, slow)).rejects.toThrow('the fault');
    expect(ended).toBe(true);
  });
});

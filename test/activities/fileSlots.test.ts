import { describe, expect, test } from '@jest/globals';

import { createFileSlots } from '../../activities/ingest/fileSlots.js';

const user = (organizationId: number, userId: number) => ({ organizationId, userId });

/** Runs files of users in slots until `releaseOne` ends them one by one, and records the order in which they start. */
function createHeldFiles(total: number) {
  const slots = createFileSlots(total);
  const started: number[] = [];
  const releases: (() => void)[] = [];
  return {
    started,
    add: (organizationId: number, userId: number, count: number): void => {
      for (let nth = 0; nth < count; nth += 1)
        void slots.run(user(organizationId, userId), () => {
          started.push(userId);
          return new Promise<void>((resolve) => releases.push(resolve));
        });
    },
    async releaseOne(): Promise<void> {
      releases.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
const nextTick = () => new Promise((resolve) => setImmediate(resolve));

describe('file slots', () => {
  test('one user gets at most three quarters of the slots', async () => {
    const files = createHeldFiles(8);
    files.add(1, 10, 100);
    await nextTick();
    expect(files.started).toEqual(Array(6).fill(10));
    files.add(2, 20, 1);
    await nextTick();
    expect(files.started.at(-1)).toBe(20);
  });

  test('waiting organizations are served round-robin, and so are the users of an organization', async () => {
    const files = createHeldFiles(1);
    files.add(1, 10, 4);
    files.add(1, 11, 4);
    files.add(2, 20, 4);
    await nextTick();
    for (let nth = 0; nth < 7; nth += 1) await files.releaseOne();
    expect(files.started).toEqual([10, 10, 20, 11, 20, 10, 20, 11]);
  });

  test('a file that fails releases its slot', async () => {
    const slots = createFileSlots(1);
    await expect(slots.run(user(1, 1), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(slots.run(user(1, 1), () => Promise.resolve('done'))).resolves.toBe('done');
  });
});

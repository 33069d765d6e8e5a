import { describe, expect, test } from '@jest/globals';

import { createFileSlots } from '../../activities/ingest/fileSlots.js';

const user = (organizationId: number, userId: number) => ({ organizationId, userId });

/** Runs files of users in slots, each until it is released; records in which order they began. */
function holdFiles(total: number) {
  const slots = createFileSlots(total);
  const begun: number[] = [];
  const releases: (() => void)[] = [];
  return {
    begun,
    add: (organizationId: number, userId: number, count: number): void => {
      for (let nth = 0; nth < count; nth += 1)
        void slots.run(user(organizationId, userId), () => {
          begun.push(userId);
          return new Promise<void>((resolve) => releases.push(resolve));
        });
    },
    async releaseOne(): Promise<void> {
      releases.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('slots for files', () => {
  test('one user leaves a quarter of the slots to others', async () => {
    const files = holdFiles(8);
    files.add(1, 10, 100);
    await settled();
    expect(files.begun).toEqual(Array(6).fill(10));
    files.add(2, 20, 1);
    await settled();
    expect(files.begun.at(-1)).toBe(20);
  });

  test('waiting organizations take turns, and within one its users, however many files each has', async () => {
    const files = holdFiles(1);
    files.add(1, 10, 4);
    files.add(1, 11, 4);
    files.add(2, 20, 4);
    await settled();
    for (let nth = 0; nth < 7; nth += 1) await files.releaseOne();
    expect(files.begun).toEqual([10, 10, 20, 11, 20, 10, 20, 11]);
  });

  test('a file that fails releases its slot', async () => {
    const slots = createFileSlots(1);
    await expect(slots.run(user(1, 1), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(slots.run(user(1, 1), () => Promise.resolve('done'))).resolves.toBe('done');
  });
});

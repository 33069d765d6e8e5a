import { describe, expect, test } from '@jest/globals';

import { createFileQueue } from '../../store/files/queue.js';

const ada = { organizationId: 1, userId: 7 };

/** Returns the file queue of one user with the given numbers of queued files, and records how often it counts files. */
function queueOf(maximum: number, queued: { all: number; ofRun?: number; sent?: number }) {
  const counted: object[] = [];
  const queue = createFileQueue((scope, limit, onlySent) => {
    counted.push(scope);
    const count = 'runId' in scope ? queued.ofRun : onlySent === true ? queued.sent : queued.all;
    return Promise.resolve(Math.min(limit, count ?? 0));
  }, maximum);
  return { queue, counted };
}

describe('room in the queue', () => {
  test.each([
    ['an empty queue admits its maximum', 100, { all: 0 }, 150, 100],
    ['a partly used queue admits up to its maximum', 100, { all: 40 }, 150, 60],
    ['a queue with enough room admits all files', 100, { all: 40 }, 30, 30],
    ['a full queue admits a tenth of its maximum from a run without queued files', 100, { all: 100 }, 150, 10],
    [
      'a full queue admits no file of a run that already has a tenth of the maximum',
      100,
      { all: 100, ofRun: 10 },
      150,
      0,
    ],
    [
      'a queue above its maximum admits no file of a run that already has a tenth of the maximum',
      100,
      { all: 300, ofRun: 12 },
      150,
      0,
    ],
    ['a small full queue admits one file', 3, { all: 3 }, 5, 1],
    ['a large full queue admits 200 files', 50_000, { all: 50_000 }, 500, 200],
    ['a queue without a maximum admits all files', 0, { all: 1_000_000 }, 150, 150],
  ])('%s', async (_what, maximum, queued, requested, granted) => {
    expect(await queueOf(maximum, queued).queue.freeSlots(ada, 1, requested)).toBe(granted);
  });

  test.each([
    ['a partly used queue admits one file', 100, { all: 99 }, 1],
    ['a full queue admits uploads up to a tenth of its maximum', 100, { all: 100, sent: 9 }, 1],
    ['a full queue admits no upload if a tenth of its maximum are uploads', 100, { all: 100, sent: 10 }, 0],
    ['a queue without a maximum admits every file', 0, { all: 1_000_000, sent: 1_000_000 }, 1],
  ])('files uploaded one by one: %s', async (_what, maximum, queued, granted) => {
    expect(await queueOf(maximum, queued).queue.freeUploadSlots(ada, 1)).toBe(granted);
  });

  test('counts files at every batch only when more than half of the queue may be in use', async () => {
    const far = queueOf(1_000, { all: 0 });
    for (let batch = 0; batch < 10; batch += 1) expect(await far.queue.freeSlots(ada, 1, 50)).toBe(50);
    expect(far.counted).toEqual([ada]);
    // After these batches, half of the queue may be in use. Another batch could exceed it, so the files are counted.
    expect(await far.queue.freeSlots(ada, 1, 50)).toBe(50);
    expect(far.counted).toHaveLength(2);
    const near = queueOf(1_000, { all: 600 });
    for (let batch = 0; batch < 3; batch += 1) await near.queue.freeSlots(ada, 1, 50);
    expect(near.counted).toHaveLength(3);
    await near.queue.freeSlots({ ...ada, userId: 8 }, 2, 50);
    expect(near.counted.at(-1)).toEqual({ ...ada, userId: 8 });
    const none = queueOf(0, { all: 0 });
    await none.queue.freeSlots(ada, 1, 50);
    expect(none.counted).toEqual([]);
  });
});

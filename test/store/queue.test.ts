import { describe, expect, test } from '@jest/globals';

import { createFileQueue } from '../../store/files/queue.js';

const ada = { organizationId: 1, userId: 7 };

/** A queue of files of one user, of which some are those of run 1, and how often they were counted. */
function queueOf(most: number, queued: { all: number; ofRun?: number; sent?: number }) {
  const counted: object[] = [];
  const queue = createFileQueue((whose, limit, onlySent) => {
    counted.push(whose);
    const own = 'runId' in whose ? queued.ofRun : onlySent === true ? queued.sent : queued.all;
    return Promise.resolve(Math.min(limit, own ?? 0));
  }, most);
  return { queue, counted };
}

describe('room in the queue', () => {
  test.each([
    ['an empty one takes what it may hold', 100, { all: 0 }, 150, 100],
    ['one in use takes the rest', 100, { all: 40 }, 150, 60],
    ['one that fits takes all', 100, { all: 40 }, 30, 30],
    ['a full one takes a tenth of a run that has nothing in it', 100, { all: 100 }, 150, 10],
    ['and no more of a run that has its tenth', 100, { all: 100, ofRun: 10 }, 150, 0],
    ['one that is over its bound as well', 100, { all: 300, ofRun: 12 }, 150, 0],
    ['a small one takes one', 3, { all: 3 }, 5, 1],
    ['a large one takes 200', 50_000, { all: 50_000 }, 500, 200],
    ['without a bound it takes anything', 0, { all: 1_000_000 }, 150, 150],
  ])('%s', async (_what, most, queued, wanted, granted) => {
    expect(await queueOf(most, queued).queue.room(ada, 1, wanted)).toBe(granted);
  });

  test.each([
    ['one in use takes them', 100, { all: 99 }, 1],
    ['a full one takes a tenth of them', 100, { all: 100, sent: 9 }, 1],
    ['and no more', 100, { all: 100, sent: 10 }, 0],
    ['without a bound it takes any', 0, { all: 1_000_000, sent: 1_000_000 }, 1],
  ])('of files sent one by one: %s', async (_what, most, queued, granted) => {
    expect(await queueOf(most, queued).queue.roomForSent(ada, 1)).toBe(granted);
  });

  test('far from full, files are not counted at every batch; near to it they are', async () => {
    const far = queueOf(1_000, { all: 0 });
    for (let batch = 0; batch < 10; batch += 1) expect(await far.queue.room(ada, 1, 50)).toBe(50);
    expect(far.counted).toEqual([ada]);
    // Now half of it may be in use.
    expect(await far.queue.room(ada, 1, 50)).toBe(50);
    expect(far.counted).toHaveLength(2);
    const near = queueOf(1_000, { all: 600 });
    for (let batch = 0; batch < 3; batch += 1) await near.queue.room(ada, 1, 50);
    expect(near.counted).toHaveLength(3);
    await near.queue.room({ ...ada, userId: 8 }, 2, 50);
    expect(near.counted.at(-1)).toEqual({ ...ada, userId: 8 });
    const none = queueOf(0, { all: 0 });
    await none.queue.room(ada, 1, 50);
    expect(none.counted).toEqual([]);
  });
});

import { expect, test } from '@jest/globals';

import { isCompleteRebuild, prepareCollections, waitForRuns } from '../../cli/commands/rebuildVectors.js';
import { everyRow } from '../support/everyRow.js';

const DONE = {
  runs: 2,
  finishedRuns: 2,
  brokenRuns: 0,
  rebuilt: 5,
  chunks: 9,
  failed: 0,
  skipped: { cold: 3 },
} as const;

const ROWS: [fields: object, isComplete: boolean][] = [
  [{}, true],
  [{ runs: 0, finishedRuns: 0, rebuilt: 0 }, true],
  [{ finishedRuns: 1 }, false],
  [{ brokenRuns: 1 }, false],
  [{ failed: 1 }, false],
];

test('counts a rebuild of vectors as complete only if every run finished and no file failed', () =>
  everyRow(
    ROWS,
    ([fields]) => JSON.stringify(fields),
    ([fields, isComplete]) => expect(isCompleteRebuild({ ...DONE, ...fields } as never)).toBe(isComplete),
  ));

const ALL = { organizationId: null, customerId: null, space: null };
const USED = [
  { space: 'whole', dimensions: 2, files: 3 },
  { space: 'missing', dimensions: 4, files: 5 },
  { space: 'broken', dimensions: 8, files: 7 },
] as const;

/** Prepares collections of a simulated store, and returns the result, the created collections and the printed lines. */
async function prepare(
  scope: object,
  recreates: boolean,
  { active = 0, used = USED as readonly object[], json = false } = {},
) {
  const calls: unknown[] = [];
  const rebuilds = {
    spaces: (asked: unknown) => (calls.push(asked), Promise.resolve(used)),
    check: () =>
      Promise.resolve([
        { space: 'whole', problem: null },
        { space: 'broken', problem: 'status red' },
        { space: 'unused', problem: 'status red' },
      ]),
    countActive: () => Promise.resolve(active),
    ensure: (space: unknown) => Promise.resolve(void calls.push({ ensured: space })),
    recreate: (space: unknown) => Promise.resolve(void calls.push({ recreated: space })),
  };
  const printed: string[] = [];
  const terminal = { out: (line: string) => printed.push(line), err: (text: string) => printed.push(text) };
  const files = await prepareCollections({ rebuilds } as never, { ...ALL, ...scope }, recreates, {
    terminal,
    has: () => json,
  } as never).catch((error: Error) => error.message);
  return { files, calls: calls.slice(1), asked: calls[0], printed };
}

test('creates missing collections, and empties damaged ones only with --recreate and for all organizations', async () => {
  const undamaged = await prepare({ space: 's' }, false, { used: USED.slice(0, 2) });
  expect(undamaged).toMatchObject({ files: 8, asked: { space: 's' } });
  expect(undamaged.calls).toEqual([{ ensured: { name: 'missing', dimensions: 4 } }]);
  expect(await prepare({}, false)).toMatchObject({ files: expect.stringContaining('With --recreate'), calls: [] });
  for (const scope of [{ organizationId: 1 }, { customerId: 'c' }])
    expect(await prepare(scope, true)).toMatchObject({ files: expect.stringContaining('without --org'), calls: [] });
  expect(await prepare({}, true, { active: 2 })).toMatchObject({
    files: expect.stringContaining('2 runs still write'),
    calls: [],
  });
  const recreated = await prepare({}, true);
  expect([recreated.files, recreated.calls]).toEqual([
    15,
    [{ ensured: { name: 'missing', dimensions: 4 } }, { recreated: { name: 'broken', dimensions: 8 } }],
  ]);
  expect(recreated.printed.join()).toMatch(
    /broken \(7 files\) is damaged: status red.*missing: was missing.*created again/s,
  );
  expect((await prepare({}, true, { json: true })).printed).toHaveLength(1);
  // Active runs matter only if a collection is emptied.
  expect((await prepare({}, false, { active: 2, used: USED.slice(0, 1) })).files).toBe(3);
});

test('waits until every run has ended or the command is stopped', async () => {
  const stopping = new AbortController();
  const terminal = { stopped: stopping.signal, isInteractive: false, err: () => undefined };
  let reads = 0;
  const rebuilds = {
    progress: (ids: unknown) => {
      reads += 1;
      if (reads === 1) setImmediate(() => stopping.abort());
      return Promise.resolve({ ...DONE, finishedRuns: 1, ids });
    },
  };
  const progress = await waitForRuns({ rebuilds } as never, [7, 8], 5, { terminal } as never);
  expect([reads, progress]).toEqual([2, { ...DONE, finishedRuns: 1, ids: [7, 8] }]);
  const ended = { progress: () => Promise.resolve((reads += 1) && DONE) };
  const running = { ...terminal, stopped: new AbortController().signal };
  expect(await waitForRuns({ rebuilds: ended } as never, [7], 5, { terminal: running } as never)).toBe(DONE);
  expect(reads).toBe(3);
});

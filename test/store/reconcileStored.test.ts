/**
 * Comparison of vectors and of file storage with the records, and repairs, without stores.
 * test/system/storage/reconcile.test.ts uses real ones.
 */
import { afterEach, describe, expect, jest, test } from '@jest/globals';

import { createCollectionWatch } from '../../store/reconcile/collections.js';
import type { Repair } from '../../store/reconcile/differences.js';
import type { RecordOfFile } from '../../store/reconcile/records.js';
import { createRepairer } from '../../store/reconcile/repair.js';
import { createStoredFiles, parseKey } from '../../store/reconcile/storedFiles.js';
import { checkVectors } from '../../store/reconcile/vectorSample.js';
import type { PointKey, ReadVectors } from '../../store/vectors/census.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

const TENANT = { organizationId: 1, userId: 2 };
const recordOf = (fields: object = {}): RecordOfFile =>
  ({
    ...{ _id: 7, ...TENANT, syncStatus: 'READY', generation: 3, lastGeneration: 3, numChunks: 2, runId: 5, move: null },
    ...{ vectorSpace: 's-2', dimensions: 2, hasText: true, hasContent: true, coldCopy: null },
    ...{ embeddingStorageStatus: 'HOT_STORAGE', ...fields },
  }) as unknown as RecordOfFile;

afterEach(() => {
  jest.restoreAllMocks();
});

describe('vectors of files', () => {
  const SOUND = [1, 0];
  /** Checks files whose chunks have the given vectors, by file and chunk. All texts have the vector SOUND. */
  async function check(
    files: readonly RecordOfFile[],
    { vectors = {}, unreadable = [] as number[], total = 4, readsAllVectors = false, texts = true },
  ) {
    const reads: number[][] = [];
    const embedded: string[] = [];
    const stores = {
      points: {
        read: async (_tenant: object, _space: string, keys: readonly PointKey[]): Promise<ReadVectors> => {
          reads.push(keys.map(({ fileId }) => fileId));
          if (keys.some(({ fileId }) => unreadable.includes(fileId))) return { problem: 'a damaged segment' };
          const given = vectors as Record<string, number[] | null>;
          return {
            vectors: keys.map(({ fileId, chunkIndex }) => {
              const vector = given[`${fileId}:${chunkIndex}`];
              return vector === undefined ? SOUND : vector;
            }),
          };
        },
      },
      chunks: {
        byKeys: async (_tenant: object, keys: readonly PointKey[]) =>
          texts ? keys.map((key) => ({ ...key, text: `text ${key.fileId}:${key.chunkIndex}` })) : [],
      },
    };
    const embed = async (_tenant: object, _space: string, asked: readonly string[]) => {
      embedded.push(...asked);
      return asked.map(() => Float32Array.from(SOUND));
    };
    const found = await checkVectors(stores as never, TENANT, files, new Map([['s-2', total]]), {
      readsAllVectors,
      embed,
    });
    return { found: [...found].map(([id, { what }]) => [id, what]), reads, embedded };
  }

  const FAULTS: readonly (readonly [vector: number[] | null, what: string])[] = [
    [null, 'is missing'],
    [[1, 0, 0], 'has 3 dimensions, not 2'],
    [[Number.NaN, 0], 'has values that are not numbers'],
    [[0.9, 0], 'has the length 0.900, not 1'],
    [[0, 1], 'is not that of its text (cosine 0.000)'],
  ];
  test('are reported if they are missing, damaged, or not those of their texts', () =>
    everyRow(FAULTS, String, async ([vector, what]) => {
      const { found } = await check([recordOf(), recordOf({ _id: 8 })], { vectors: { '7:1': vector } });
      expect(found).toEqual([[7, `the vector of its chunk 1 in s-2 ${what}`]]);
    }));

  test('are read file by file if some of them cannot be read, and those of images are not compared with a text', async () => {
    const files = [7, 8, 9].map((_id) => recordOf({ _id, hasText: _id !== 9 }));
    const { found, reads, embedded } = await check(files, { unreadable: [8], vectors: { '9:0': [0, 1] } });
    expect(found).toEqual([[8, 'the vector of its chunk 0 in s-2 cannot be read']]);
    expect(reads).toEqual([
      [7, 7, 8, 8, 9, 9],
      [7, 7],
      [8, 8],
      [9, 9],
    ]);
    expect(embedded).toEqual(['text 7:0', 'text 7:1']);
    // A chunk that was deleted meanwhile has no text.
    expect((await check(files, { texts: false })).found).toEqual([]);
  });

  test('of a large space are sampled (10,000 read, 64 embedded), or all are read and 1,000 embedded', async () => {
    const file = recordOf({ numChunks: 300 });
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const half = await check([file], { total: 20_001 });
    expect(half.reads).toEqual([]);
    random.mockReturnValue(0.499);
    const sampled = await check([file], { total: 20_000 });
    expect(sampled.reads.map(({ length }) => length)).toEqual([256, 44]);
    expect(sampled.embedded).toEqual([]);
    random.mockReturnValue(0.006);
    expect((await check([file], { total: 20_000 })).embedded).toHaveLength(300);
    random.mockReturnValue(0.9);
    const all = await check([file], { total: 20_000, readsAllVectors: true });
    expect(all.reads.flat()).toHaveLength(300);
    expect(all.embedded).toEqual([]);
    random.mockReturnValue(0.049);
    expect((await check([file], { total: 20_000, readsAllVectors: true })).embedded).toHaveLength(300);
  });
});

test('a missing or damaged collection is reported once per organization, with its number of files, unless it was created meanwhile', async () => {
  let conditions = [
    { space: 's-2', points: 5, problem: 'a damaged segment' as string | null },
    { space: 't-2', points: 9, problem: null },
  ];
  const watch = await createCollectionWatch({ check: async () => conditions });
  expect([...watch.points]).toEqual([
    ['s-2', 5],
    ['t-2', 9],
  ]);
  const readable = [
    recordOf({ vectorSpace: 't-2' }),
    // Without vectors in Qdrant, nothing can be missing there.
    ...[{ vectorSpace: null }, { numChunks: 0 }, { embeddingStorageStatus: 'COLD_STORAGE' }].map(recordOf),
    recordOf({ isQuarantined: true }),
  ];
  expect(readable.map((file) => watch.isReadable(file))).toEqual(readable.map(() => true));
  expect(readable.map((file) => watch.hasReadableVectors(file))).toEqual([true, false, false, false, false]);
  const damaged = [recordOf(), recordOf({ _id: 8 }), recordOf({ vectorSpace: 'missing-2' })];
  expect(damaged.map((file) => watch.isReadable(file))).toEqual([false, false, false]);
  expect(damaged.map((file) => watch.hasReadableVectors(file))).toEqual([false, false, false]);
  const described = (await watch.differences(1)).map(({ organizationId, what }) => [organizationId, what]);
  const of = (space: string, files: string, why: string) =>
    `the collection of ${space}, which has the vectors of ${files}, cannot be searched: ${why}`;
  expect(described).toEqual([
    [1, of('s-2', '2 files', 'a damaged segment')],
    [1, of('missing-2', '1 file', 'it does not exist')],
  ]);
  expect(await watch.differences(2)).toEqual([]);
  expect(watch.isReadable(recordOf())).toBe(false);
  conditions = [{ space: 's-2', points: 5, problem: null }];
  expect(await watch.differences(2)).toEqual([]);
});

const KEYS: readonly (readonly [key: string, parsed: object | null])[] = [
  ['1/originals/70', { organizationId: 1, is: 'original', id: 70 }],
  ['1/7/3.raw', { organizationId: 1, is: 'ofFile', fileId: 7 }],
  ['1/7/3.a-b_c.vectors', { organizationId: 1, is: 'ofFile', fileId: 7 }],
  ...['1/originals/70.raw', '1/7/3.txt', '1/7/raw', 'a/7/3.raw', '1/7/8/3.raw', 'x1/7/3.raw', ''].map(
    (key): [string, null] => [key, null],
  ),
];
test('a key of file storage names its organization and its file or uploaded content; other keys are unknown', () =>
  everyRow(
    KEYS,
    ([key]) => key,
    ([key, parsed]) => expect(parseKey(key)).toEqual(parsed && { key, ...parsed }),
  ));

describe('objects in file storage', () => {
  /**
   * Returns the comparison of stored objects with the given records, originals and runs.
   * @param missing keys of objects that were deleted after they were listed
   */
  function open(
    keys: readonly string[],
    given: { files?: () => readonly RecordOfFile[]; originals?: readonly object[]; runs?: readonly object[] } = {},
    missing: readonly string[] = [],
  ) {
    const rows = (found: readonly object[]) => {
      const query = { lean: async () => found, hint: () => query };
      return query;
    };
    const models = {
      files: { find: () => rows(given.files?.() ?? []) },
      quarantined: { find: () => rows([]) },
      originals: { aggregate: async () => given.originals ?? [] },
      runs: { find: () => rows(given.runs ?? []) },
      reembeds: { find: () => rows([]) },
    };
    const blobs = {
      async *keys() {
        for (const key of keys) yield await Promise.resolve(key);
      },
      size: async (key: string) => (missing.includes(key) ? null : 9),
    };
    return createStoredFiles(models as never, blobs as never);
  }
  async function stray(stored: ReturnType<typeof open>) {
    const found: [string | number | null, string | null][] = [];
    for await (const { fileId, repair, organizationId, what } of stored.differences(null, () => undefined)) {
      expect(organizationId).toBe(1);
      found.push([fileId, repair && 'key' in repair ? repair.key : what]);
    }
    return found;
  }

  test('of a file are stray unless its record references them', async () => {
    const keys = ['1/7/3.raw', '1/7/2.raw', '1/7/3.a.vectors', '1/7/3.b.vectors', '1/8/1.raw'];
    const files = () => [recordOf({ coldCopy: { key: '1/7/3.a.vectors' } })];
    expect(await stray(open(keys, { files }))).toEqual([
      [7, '1/7/2.raw'],
      [7, '1/7/3.b.vectors'],
      [8, '1/8/1.raw'],
    ]);
    const withoutContent = () => [recordOf({ hasContent: false })];
    expect(await stray(open(['1/7/3.raw'], { files: withoutContent }))).toEqual([[7, '1/7/3.raw']]);
    const ofOther = () => [recordOf({ organizationId: 2, syncStatus: 'SYNCING' })];
    expect(await stray(open(['1/7/3.raw'], { files: ofOther }))).toEqual([[7, '1/7/3.raw']]);
  });

  const KEPT: readonly (readonly [what: string, stored: () => ReturnType<typeof open>])[] = [
    ['of an unfinished file', () => open(['1/7/2.raw'], { files: () => [recordOf({ syncStatus: 'SYNCING' })] })],
    [
      'of a file that an active run processes',
      () => open(['1/7/2.raw'], { files: () => [recordOf()], runs: [{ _id: 5, kind: 'resyncFile', fileId: null }] }),
    ],
    ['deleted meanwhile', () => open(['1/7/2.raw'], { files: () => [recordOf()] }, ['1/7/2.raw'])],
    [
      'referenced meanwhile',
      () => {
        let reads = 0;
        return open(['1/7/4.raw'], { files: () => [recordOf({ generation: (reads += 1) > 1 ? 4 : 3 })] });
      },
    ],
    [
      'of an uploaded content',
      () => open(['1/originals/70'], { originals: [{ _id: 70, organizationId: 1, isInMongoDB: false }] }),
    ],
  ];
  test('are kept while they may be in use', () =>
    everyRow(
      KEPT,
      ([what]) => what,
      async ([, stored]) => expect(await stray(stored())).toEqual([]),
    ));

  test('of an uploaded content are stray without its row, or if MongoDB has its bytes', async () => {
    const keys = [70, 71, 72].map((id) => `1/originals/${id}`);
    const originals = [
      { _id: 71, organizationId: 1, isInMongoDB: true },
      { _id: 72, organizationId: 2, isInMongoDB: false },
    ];
    expect(await stray(open(keys, { originals }))).toEqual(keys.map((key) => [null, key]));
  });

  test('with an unknown name are reported, and never deleted', async () => {
    expect(await stray(open(['1/notes.txt']))).toEqual([
      [null, '1/notes.txt is not a key of this service; check the object and move it away'],
    ]);
  });

  test('are all checked, in batches of 500', async () => {
    const keys = Array.from({ length: 1_001 }, (_, id) => `1/${id + 1}/1.raw`);
    const checked: number[] = [];
    const found: unknown[] = [];
    for await (const { fileId } of open(keys).differences(1, (names) => void checked.push(names))) found.push(fileId);
    expect([found.length, checked]).toEqual([1_001, [500, 500, 1]]);
  });
});

describe('a repair', () => {
  const NEVER = () => Promise.reject(new Error('no resync'));
  /** Repairs a difference of file 7. @param matched whether the record is unchanged */
  async function repair(
    does: Repair,
    file: RecordOfFile | null = recordOf(),
    { matched = true, resync = NEVER as never } = {},
  ) {
    const changes: unknown[] = [];
    const fakes = recorder();
    const deleted = (name: string) => ({ deleteMany: async (query: object) => void changes.push([name, query]) });
    const models = {
      files: {
        updateOne: async (filter: object, { $set }: { $set: object }) => {
          changes.push(['files', filter, $set]);
          return { matchedCount: matched ? 1 : 0 };
        },
      },
      ...{ contents: deleted('contents'), recognizedPages: deleted('pages'), items: deleted('items') },
    };
    const at = fakes.stores as Record<string, object>;
    const stores = { ...at, models, points: at['vectors'], blobs: at['coldCopies'] };
    const difference = { kind: 'stray_chunks', what: '', repair: does, ...TENANT, fileId: 7 } as const;
    const result = await createRepairer(stores as never)(difference, file, resync);
    return { result, changes, calls: fakes.calls.map(({ name, args }) => [name.replace(/^.*\./, ''), ...args]) };
  }
  const OWNER = { ...TENANT, fileId: 7 };
  const FILTER = { _id: 7, ...TENANT, runId: 5, syncStatus: 'READY', generation: 3, lastGeneration: 3 };

  test('deletes exactly the stray data of its user', async () => {
    const exactly = [{ ...OWNER, generations: { exactly: 2 } }];
    expect((await repair({ do: 'deleteChunks', generation: 2 })).calls).toEqual([['deleteGenerations', exactly]]);
    const points = { do: 'deletePoints', space: 's-2', generation: 3, fromChunk: 2 } as const;
    expect((await repair(points)).calls).toEqual([['remove', OWNER, { ...points, fileId: 7 }, 2]]);
    expect((await repair({ do: 'deleteContents', generation: 2 }, null)).changes).toEqual([
      ['contents', { ...OWNER, generation: 2 }],
    ]);
    expect((await repair({ do: 'deletePages' }, null)).changes).toEqual([['pages', OWNER]]);
    expect((await repair({ do: 'deleteItems', dataSourceId: 9 }, null)).changes).toEqual([
      ['items', { ...TENANT, dataSourceId: 9 }],
    ]);
    expect((await repair({ do: 'deleteStored', key: 'k' }, null)).calls).toEqual([['delete', 'k']]);
    expect((await repair({ do: 'releaseOriginal', id: 70 })).calls).toEqual([['release', OWNER, 70, null], ['sweep']]);
  });

  test('reserves a generation that the record has not used, before it deletes data of that generation', async () => {
    const unused = { do: 'deleteChunks', generation: 5 } as const;
    const reserved = await repair(unused);
    expect(reserved.changes).toEqual([['files', FILTER, { lastGeneration: 5 }]]);
    expect(reserved.calls).toHaveLength(1);
    const changed = await repair(unused, recordOf(), { matched: false });
    expect([changed.result, changed.calls]).toEqual([{ done: false, why: 'the file has changed meanwhile' }, []]);
  });

  test('of a record is not done if the record has changed meanwhile', async () => {
    const count = { do: 'setCount', numChunks: 6 } as const;
    const counted = await repair(count);
    const fields = { numChunks: 6, 'statistics.numEmbeddings': 6, updatedAt: expect.any(Date) };
    expect([counted.result, counted.changes]).toEqual([{ done: true }, [['files', FILTER, fields]]]);
    expect((await repair(count, recordOf(), { matched: false })).result).toMatchObject({ done: false });
  });

  test('completes an interrupted cleanup in all stores, and ends the files of an ended run', async () => {
    const older = [{ ...OWNER, generations: { below: 3 } }];
    const cleaned = await repair({ do: 'cleanUp' });
    expect(cleaned.calls).toEqual([
      ['deleteGenerations', older],
      ['deleteGenerations', older],
      ['markCleanedUp', [7]],
    ]);
    expect(cleaned.changes).toEqual([['contents', { ...OWNER, generation: { $lt: 3 } }]]);
    const aborted = await repair({ do: 'abort', runId: 5 });
    expect(aborted.calls).toEqual([
      ['abortOpen', 5, 'Its run ended before this file was finished. Resync to try again.', 'unfinished'],
    ]);
  });

  test('by a resync is done unless the resync is refused', async () => {
    const answers = (why: string | null) => ({ resync: (async () => why) as never });
    expect((await repair({ do: 'resync' }, recordOf(), answers(null))).result).toEqual({ done: true });
    expect((await repair({ do: 'resync' }, recordOf(), answers('busy'))).result).toEqual({ done: false, why: 'busy' });
  });
});

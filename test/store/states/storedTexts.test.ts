/**
 * Tests parts of stored texts, pages of chunks, and cached vectors: where parts and pages begin and end, and whose data
 * is returned.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection } from 'mongoose';

import { createChunkCommands } from '../../../store/chunks/commands.js';
import { type ChunkQueries, createChunkQueries } from '../../../store/chunks/queries.js';
import { createTextCache } from '../../../store/chunks/textCache.js';
import { segmentModel } from '../../../store/models/chunks.js';
import { createVectorCache } from '../../../store/vectors/cache.js';
import { everyRow } from '../../support/everyRow.js';
import { ADA, dropDatabase, openDatabase, STRANGERS } from './writes.js';

const { customerId: _name, ...TENANT } = ADA;
/**
 * Number of chunks. Each has 10 characters and shares 4 with the next one. A stored row has 64 chunks, so neighbouring
 * rows share 4 characters too.
 */
const CHUNKS = 300;
const TEXT = Array.from({ length: CHUNKS * 6 + 4 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('');
const CUTS = Array.from({ length: CHUNKS }, (_, nth) => ({
  ...{ start: nth * 6, end: nth * 6 + 10, tokens: 1 },
  // Ten chunks begin on each page; the last of them ends on the next one.
  metadata: { pg_start: Math.floor(nth / 10) + 1, pg_end: Math.floor((nth + 1) / 10) + 1 },
}));
const FILE = { ...TENANT, fileId: 3, generation: 2 };
const contentOf = (_id: number, numChunks: number, generation = 2) =>
  ({ _id, generation, numChunks, vectorSpace: 's' }) as never;

let connection: Connection;
let chunks: ChunkQueries;
/** Current records by file id. A page reads them again if the chunks of an earlier generation are missing. */
let records: Record<number, unknown> = {};
beforeAll(async () => {
  connection = await openDatabase();
  const segments = segmentModel(connection);
  const byIds = (_tenant: unknown, [id]: readonly number[]) => Promise.resolve(id! in records ? [records[id!]] : []);
  chunks = createChunkQueries(segments, { byIds } as never, createTextCache(0));
  const write = (fileId: number, generation: number, fields: object = {}) =>
    createChunkCommands(segments).write([
      { ...TENANT, fileId, generation, prefix: '', text: TEXT, cuts: CUTS, ...fields },
    ]);
  await write(3, 2);
  await write(4, 2, { text: 'no pages', cuts: [{ start: 0, end: 8, tokens: 2 }] });
  await write(3, 9, { text: 'newer', cuts: [{ start: 0, end: 5, tokens: 2 }] });
});
afterAll(() => dropDatabase(connection));

test('a part of a text begins at any offset, also where rows overlap, and ends with the text', async () => {
  // The second row begins at the 65th chunk, and the first one ends four characters later.
  const row = 64 * 6;
  await everyRow(
    [0, 1, row - 1, row, row + 1, row + 3, row + 4, row + 5, 3 * row, TEXT.length - 1],
    String,
    async (at) => {
      expect(await chunks.textFrom(FILE, at, 20)).toBe(TEXT.slice(at, at + 20));
      expect(await chunks.textFrom(FILE, at, 2 * row)).toBe(TEXT.slice(at, at + 2 * row));
    },
  );
  expect(await chunks.textFrom(FILE, 0, 1_000_000)).toBe(TEXT);
  for (const end of [TEXT.length, TEXT.length + 5]) expect(await chunks.textFrom(FILE, end, 10)).toBeNull();
  for (const stranger of STRANGERS) {
    const file = { ...FILE, organizationId: stranger.organizationId, userId: stranger.userId };
    expect([await chunks.textFrom(file, 0, 9), await chunks.rangeOfPage(file, 1), await chunks.lastPage(file)]).toEqual(
      [...[null, null, null]],
    );
  }
  expect(await chunks.textFrom({ ...FILE, generation: 1 }, 0, 9)).toBeNull();
  const whole = await chunks.parsedText(FILE, 2);
  const parts: Uint8Array[] = [];
  for await (const part of whole!) parts.push(part);
  expect(Buffer.concat(parts).toString()).toBe(TEXT);
  expect(await chunks.parsedText({ ...FILE, organizationId: 2 }, 2)).toBeNull();
});

test('the range of a page covers the chunks that begin or end on it', async () => {
  expect(await chunks.rangeOfPage(FILE, 1)).toEqual({ start: 0, end: 9 * 6 + 10 });
  expect(await chunks.rangeOfPage(FILE, 7)).toEqual({ start: 59 * 6, end: 69 * 6 + 10 });
  expect(await chunks.rangeOfPage(FILE, 31)).toEqual({ start: 299 * 6, end: TEXT.length });
  expect([await chunks.rangeOfPage(FILE, 32), await chunks.rangeOfPage(FILE, 0)]).toEqual([null, null]);
  expect([await chunks.lastPage(FILE), await chunks.lastPage({ ...FILE, fileId: 4 })]).toEqual([31, null]);
});

test('pages of chunks are read in groups of 250, each chunk once, over the borders of files', async () => {
  async function* files() {
    yield* await Promise.resolve([contentOf(3, CHUNKS), contentOf(4, 1), contentOf(3, CHUNKS)]);
  }
  const read = async (offset: number, limit: number) => {
    const groups: string[][] = [];
    for await (const group of chunks.page(TENANT, files(), offset, limit))
      groups.push(group.map(({ fileId, chunkIndex }) => `${fileId}:${chunkIndex}`));
    return groups;
  };
  const ofFile = Array.from({ length: CHUNKS }, (_, nth) => `3:${nth}`);
  const all = [...ofFile, '4:0', ...ofFile];
  await everyRow(
    [
      [0, 1_000],
      [0, 250],
      [1, 250],
      [249, 3],
      [299, 3],
      [300, 1],
      [301, 1],
      [600, 9],
      [601, 9],
      [0, 0],
    ],
    String,
    async ([offset, limit]) => {
      const groups = await read(offset!, limit!);
      expect(groups.flat()).toEqual(all.slice(offset, offset! + limit!));
      expect(groups.every(({ length }) => length <= 250)).toBe(true);
    },
  );
  expect((await read(0, 1_000)).map(({ length }) => length)).toEqual([250, 250, 101]);
  expect([await chunks.countAll(TENANT), await chunks.countOf(TENANT, [4, 5])]).toEqual([CHUNKS + 2, 1]);
});

test('a page contains the new chunks of a file that was published meanwhile, and none of a deleted one', async () => {
  async function* files() {
    yield* await Promise.resolve([contentOf(3, 3, 1), contentOf(4, 1), contentOf(5, 2, 1)]);
  }
  records = { 3: contentOf(3, 1, 9) };
  const texts: string[] = [];
  for await (const group of chunks.page(TENANT, files(), 0, 10)) texts.push(...group.map(({ text }) => text));
  records = {};
  expect(texts).toEqual(['newer', 'no pages']);
});

test('a vector is computed once for each text, organization and space, and again for other dimensions', async () => {
  const cache = createVectorCache(connection);
  const computed: (readonly string[])[] = [];
  const resolve = async (organizationId: number, name: string, texts: string[], dimensions = 2) => {
    const vectors = await cache.resolve(
      organizationId,
      { name, dimensions } as never,
      texts,
      (missing) => {
        computed.push(missing);
        return Promise.resolve(missing.map((text) => new Float32Array(dimensions).fill(text.length + organizationId)));
      },
      new AbortController().signal,
    );
    return vectors.map((vector) => [...vector]);
  };
  expect(await resolve(1, 's', ['a', 'bb', 'a'])).toEqual([
    [2, 2],
    [3, 3],
    [2, 2],
  ]);
  expect(await resolve(1, 's', ['bb', 'ccc', 'a'])).toEqual([
    [3, 3],
    [4, 4],
    [2, 2],
  ]);
  expect(await resolve(2, 's', ['a'])).toEqual([[3, 3]]);
  await resolve(1, 't', ['a']);
  expect(await resolve(1, 's', ['a'], 3)).toEqual([[2, 2, 2]]);
  await resolve(1, 's', ['a'], 3);
  expect(computed).toEqual([['a', 'bb'], ['ccc'], ['a'], ['a'], ['a']]);
  expect(await cache.countCached(1, 's', ['a', 'a', 'x', 'ccc'])).toBe(3);
  expect([await cache.countCached(2, 's', ['bb']), await cache.countCached(2, 't', ['a'])]).toEqual([0, 0]);
});

import { describe, expect, test } from '@jest/globals';

import { splitText } from '../../documents/chunking/splitText.js';
import type { SegmentDoc } from '../../store/models/chunks.js';
import { createChunkCommands } from '../../store/chunks/commands.js';
import { chunksOf, textOf, toSegments } from '../../store/chunks/segments.js';
import { randomText, Seeded } from '../documents/randomText.js';

const owner = { organizationId: 1, userId: 2, fileId: 3, generation: 4 };
const cutUp = (text: string, chunkSize: number, chunkOverlap: number, prefix: string | null = null) => {
  const { chunks, prefix: splitPrefix } = splitText(text, { chunkSize, chunkOverlap, prefix });
  return { chunks, rows: [...toSegments({ ...owner, text, prefix: splitPrefix, cuts: chunks })] };
};
const join = async (rows: readonly SegmentDoc[]): Promise<string> => {
  let text = '';
  for await (const part of textOf(rows)) text += part;
  return text;
};
const long = (characters: number) => `  ${'A line of words, and another one.\n\n'.repeat(characters / 35)}  `;

describe('segments of a parsed text', () => {
  test.each([
    ['one row', long(3_000), 50, 10],
    ['many rows, split by the number of chunks', long(60_000), 20, 5],
    ['many rows, split by characters', long(700_000), 20_000, 200],
    ['no overlap', long(40_000), 10, 0],
    ['a chunk larger than a row', long(600_000), 90_000, 20],
    ['multi-byte characters', `${'日本語のテキスト。\n\n'.repeat(2_000)}`, 30, 8],
  ])('return text and chunks: %s', async (_what, text, size, overlap) => {
    const { chunks, rows } = cutUp(text, size, overlap, 'page.html');
    const restored = rows.flatMap((row) => chunksOf(row));
    expect(await join(rows)).toBe(text);
    expect(restored.map((chunk) => chunk.text)).toEqual(chunks.map((chunk) => chunk.text));
    expect(restored.map((chunk) => chunk.chunkIndex)).toEqual(chunks.map((_chunk, index) => index));
    expect(new Set(rows.map((row) => row._id)).size).toBe(rows.length);
  });

  test('return random texts unchanged', async () => {
    for (let seed = 1; seed <= 15; seed += 1) {
      const text = randomText(new Seeded(seed), 1_500);
      const { chunks, rows } = cutUp(text, 1 + (seed % 7), seed % 3 === 0 ? 0 : seed % 2);
      expect(await join(rows)).toBe(text);
      expect(rows.flatMap((row) => chunksOf(row)).map((chunk) => chunk.text)).toEqual(
        chunks.map((chunk) => chunk.text),
      );
    }
  });

  test('a range of chunks is read from its rows', () => {
    const { chunks, rows } = cutUp(long(60_000), 20, 5);
    expect(rows.length).toBeGreaterThan(3);
    const range = rows.flatMap((row) => chunksOf(row, 60, 140));
    expect(range.map((chunk) => [chunk.chunkIndex, chunk.text])).toEqual(
      chunks.slice(60, 140).map((chunk, nth) => [60 + nth, chunk.text]),
    );
  });
});

test('long texts are written in several inserts, each below the limit of a command, and each row once', async () => {
  const inserts: SegmentDoc[][] = [];
  const insert = (rows: SegmentDoc | SegmentDoc[]) => Promise.resolve(void inserts.push([rows].flat()));
  const model = { collection: { insertOne: insert, insertMany: insert } } as never;
  const text = 'x'.repeat(3_000_000);
  const cuts = Array.from({ length: 6 }, (_, nth) => ({ start: nth * 500_000, end: (nth + 1) * 500_000, tokens: 1 }));
  const texts = [3, 4, 5, 6].map((fileId) => ({ ...owner, fileId, text, prefix: '', cuts }));
  await createChunkCommands(model).write([...texts, { ...owner, fileId: 7, text: 'y', prefix: '', cuts: [] }]);
  expect(inserts.flat().map(({ _id }) => _id)).toEqual(
    texts.flatMap(({ fileId }) => cuts.map((_cut, row) => `${fileId}:4:${row}`)),
  );
  const sizes = inserts.map((rows) => rows.reduce((sum, row) => sum + row.text.length, 0));
  expect(sizes).toEqual([8_000_000, 4_000_000]);
});

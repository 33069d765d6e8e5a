import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { countTokens } from '../../../documents/chunking/countTokens.js';
import { LongText, writeText } from '../../../documents/longText.js';
import { FILES, LIMITS } from '../../documents/page.js';
import { upload } from '../../documents/readFile.js';
import { loadDocumentPool, loadSplitText } from '../../support/product.js';

const { createDocumentPool } = await loadDocumentPool();
const { splitText } = await loadSplitText();

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'allotrope-long-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['stored as Latin-1, one byte per character', 'Grüße und\n'],
  ['stored as UTF-16, two bytes per code unit', '漢字 und 🦄\n'],
])('reads slices of a text in a file by character offsets: %s', (_what, line) => {
  const text = line.repeat(10_000);
  const file = path.join(folder, 'text');
  const long = new LongText(writeText(text, file));
  expect(long.length).toBe(text.length);
  for (const [start, end] of [
    [0, 5],
    [7_777, 8_888],
    [text.length - 3, text.length],
    [4, 4],
  ] as const)
    expect(long.slice(start, end)).toBe(text.slice(start, end));
  expect(long.slice(0, text.length) === text).toBe(true);
  // The file is unlinked: no other process can open it, and a crash leaves nothing to clean up.
  expect(readdirSync(folder)).toEqual([]);
  const openFiles = (): number => readdirSync('/proc/self/fd').length;
  const before = openFiles();
  long.close();
  expect(openFiles()).toBe(before - 1);
  long.close();
  expect(openFiles()).toBe(before - 1);
});

test('splits a long text like a short one, although its tokens are counted in windows', () => {
  // Each paragraph fills a chunk, so each chunk must be one paragraph, wherever the windows end.
  const paragraph = `${'It was so. '.repeat(50)}\n\n`;
  // A window has 2^25 characters (documents/chunking/tokenIndex.ts).
  const times = Math.ceil(34_000_000 / paragraph.length);
  const text = paragraph.repeat(times);
  const { chunks, numTokens } = splitText(text, { chunkSize: 210, chunkOverlap: 0, prefix: null });
  expect(chunks).toHaveLength(times);
  const [first] = chunks;
  expect(first?.tokens).toBe(countTokens(paragraph.trim()));
  const others = chunks.filter(
    ({ start, end, tokens }, nth) =>
      start !== nth * paragraph.length || end - start !== paragraph.trim().length || tokens !== first?.tokens,
  );
  expect(others).toEqual([]);
  // A token never spans two paragraphs.
  expect(numTokens).toBe(times * countTokens(paragraph));
}, 120_000);

describe('a table of several megabytes', () => {
  const rows = Array.from({ length: 120_000 }, (_, nth) => `Boat ${nth},${nth % 97},green`);
  const bytes = Buffer.from(`name,berth,colour\n${rows.join('\n')}\n`);

  test('is returned complete: the reader process passes its text to the caller in a file', async () => {
    const pool = createDocumentPool({ threads: 1, timeoutMs: 60_000, memoryMb: 256, limits: LIMITS, files: FILES });
    try {
      const file = path.join(folder, 'boats.csv');
      writeFileSync(file, bytes);
      const input = { ...upload('', 'boats.csv'), path: file };
      const document = await pool.process(input, { chunkSize: 300, chunkOverlap: 0, prefix: null });
      const { text, cuts } = document;
      if (typeof text === 'string') throw new Error('the text was returned as a string, not in a file');
      expect(text.slice(0, 37)).toBe('name: Boat 0, berth: 0, colour: green');
      expect(cuts.map(({ start, end }) => text.slice(start, end)).join('\n') === text.slice(0, text.length)).toBe(true);
      expect(document.metadata).toMatchObject({ rows: 120_000, columns: ['name', 'berth', 'colour'] });
      expect(readFileSync(file).equals(bytes)).toBe(true);
      text.close();
    } finally {
      await pool.close();
    }
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('allotrope-text-'))).toEqual([]);
  });
});

import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

import { isLong, LongText, writeText } from '../../documents/longText.js';
import { withBytes } from '../../documents/processDocument.js';
import { input, LIMITS } from './page.js';

const folder = mkdtempSync(path.join(tmpdir(), 'long-text-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Longer than one part that writeText() writes. The UTF-16 text has its only wide characters in its last part. */
const LATIN = 'aé\n'.repeat(1_400_000);
const TEXTS = [
  ['latin1', LATIN],
  ['utf16le', `${LATIN}€😀z`],
] as const;

test('writes a text to a file that only its owner can read, and that LongText removes as soon as it has opened it', () => {
  for (const [encoding, text] of TEXTS) {
    const file = path.join(folder, encoding);
    const written = writeText(text, file);
    expect(written).toEqual({ file, characters: text.length, encoding });
    expect([statSync(file).mode & 0o777, statSync(file).size]).toEqual([
      0o600,
      text.length * (encoding === 'latin1' ? 1 : 2),
    ]);
    const long = new LongText(written);
    expect(existsSync(file)).toBe(false);
    expect(long.length).toBe(text.length);
    const end = text.length;
    for (const [from, to] of [
      [0, 3],
      [3_999_998, 4_000_003],
      [end - 4, end],
      [5, 5],
      [7, 6],
    ] as const)
      expect(long.slice(from, to)).toBe(from > to ? '' : text.slice(from, to));
    expect(long.slice(0, end) === text).toBe(true);
    expect(() => long.slice(0, end + 1)).toThrow('shorter');
    long.close();
    expect(() => long.slice(0, 1)).toThrow();
    // A second call must not close a descriptor that another file has received.
    expect(() => long.close()).not.toThrow();
  }
});

test('does not write into an existing file', () => {
  const file = path.join(folder, 'existing');
  writeFileSync(file, 'other');
  expect(() => writeText('text', file)).toThrow('EEXIST');
  expect(readdirSync(folder)).toEqual(['existing']);
});

test('treats a text above four million characters as long', () => {
  expect([isLong('x'.repeat(4_000_000)), isLong('x'.repeat(4_000_001))]).toEqual([false, true]);
});

test('reads a document of exactly the maximum size, from memory or a file', async () => {
  const file = path.join(folder, 'document');
  writeFileSync(file, '12345');
  const inMemory = input('12345');
  const inFile = input('', { path: file });
  for (const document of [inMemory, inFile]) {
    expect(Buffer.from((await withBytes(document, { ...LIMITS, maxFileBytes: 5 })).bytes).toString()).toBe('12345');
    await expect(withBytes(document, { ...LIMITS, maxFileBytes: 4 })).rejects.toMatchObject({ kind: 'too_large' });
  }
});

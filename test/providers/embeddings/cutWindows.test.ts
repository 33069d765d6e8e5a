import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { countTokens } from '../../../documents/chunking/countTokens.js';
import { cutWindows, halve } from '../../../providers/embeddings/remote/cutWindows.js';

const LIMITS = { tokens: 50, bytes: 400 };

test('returns a short text unchanged as one window', () => {
  const text = ' The river runs through the old town.\n';
  expect(cutWindows(text, LIMITS, countTokens)).toEqual([{ text, tokens: countTokens(text) }]);
});

test('keeps a text whole that meets both limits exactly, and cuts a larger one', () => {
  const words = (count: number): string => 'a '.repeat(count).trim();
  const windows = (text: string, limits: typeof LIMITS): number =>
    cutWindows(text, limits, (part) => part.split(' ').length).length;
  expect(windows(words(50), { tokens: 50, bytes: 99 })).toBe(1);
  expect(windows(words(50), { tokens: 49, bytes: 99 })).toBeGreaterThan(1);
  expect(windows(words(50), { tokens: 50, bytes: 98 })).toBeGreaterThan(1);
});

test('cuts between words, in order and without losing any', () => {
  const words = Array.from({ length: 300 }, (_, i) => `word${i}`);
  const windows = cutWindows(words.join(' '), LIMITS, countTokens);
  expect(windows.length).toBeGreaterThan(10);
  expect(windows.flatMap(({ text }) => text.trim().split(/\s+/))).toEqual(words);
});

test('keeps each window within the limits of tokens and bytes, and loses only whitespace', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 2_000 }),
    fc.string({ unit: fc.constantFrom('a', ' ', '\n', '漢', '😀', '7', '<|endoftext|>'), maxLength: 2_000 }),
  );
  fc.assert(
    fc.property(text, (whole) => {
      const windows = cutWindows(whole, LIMITS, countTokens);
      for (const { text: cut, tokens } of windows) {
        expect(countTokens(cut)).toBeLessThanOrEqual(LIMITS.tokens);
        expect(tokens).toBeGreaterThanOrEqual(countTokens(cut));
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(LIMITS.bytes);
      }
      const withoutSpaces = (joined: string): string => joined.replaceAll(/\s/g, '');
      if (windows.length > 1)
        expect(withoutSpaces(windows.map((window) => window.text).join(''))).toBe(withoutSpaces(whole));
    }),
    { numRuns: 200 },
  );
});

test.each(['漢', 'ไทย', '😀', '\u{1D11E}'])('keeps windows of %s within the limit of tokens', (character) => {
  const text = character.repeat(300);
  const windows = cutWindows(text, { tokens: 24, bytes: 1_000 }, countTokens);
  expect(windows.map((window) => window.text).join('')).toBe(text);
  for (const window of windows) expect(countTokens(window.text)).toBeLessThanOrEqual(24);
});

test('halves a text without splitting a character', () => {
  const halves = halve({ text: '😀😀😀', tokens: 6 });
  expect(halves?.map(({ text }) => text)).toEqual(['😀😀', '😀']);
  expect(halve({ text: 'x', tokens: 1 })).toBeNull();
});

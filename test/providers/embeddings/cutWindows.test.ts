import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { countTokens } from '../../../documents/chunking/countTokens.js';
import { cutWindows, halve } from '../../../providers/embeddings/remote/cutWindows.js';

const LIMITS = { tokens: 50, bytes: 400 };

test('a text that fits is one window as it is', () => {
  const text = ' The river runs through the old town.\n';
  expect(cutWindows(text, LIMITS, countTokens)).toEqual([{ text, tokens: countTokens(text) }]);
});

test('windows are whole words, in order, and hold all of the text', () => {
  const words = Array.from({ length: 300 }, (_, i) => `word${i}`);
  const windows = cutWindows(words.join(' '), LIMITS, countTokens);
  expect(windows.length).toBeGreaterThan(10);
  expect(windows.flatMap(({ text }) => text.trim().split(/\s+/))).toEqual(words);
});

test('no window is longer than the model reads, in tokens and bytes, and nothing but spaces is lost', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 2_000 }),
    fc.string({ unit: fc.constantFrom('a', ' ', '\n', '漢', '😀', '7', '<|endoftext|>'), maxLength: 2_000 }),
  );
  fc.assert(
    fc.property(text, (one) => {
      const windows = cutWindows(one, LIMITS, countTokens);
      for (const { text: cut, tokens } of windows) {
        expect(countTokens(cut)).toBeLessThanOrEqual(LIMITS.tokens);
        expect(tokens).toBeGreaterThanOrEqual(countTokens(cut));
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(LIMITS.bytes);
      }
      const bare = (all: string): string => all.replaceAll(/\s/g, '');
      if (windows.length > 1) expect(bare(windows.map((window) => window.text).join(''))).toBe(bare(one));
    }),
    { numRuns: 200 },
  );
});

test('halves hold all of a text, and never half of a character', () => {
  const halves = halve({ text: '😀😀😀', tokens: 6 });
  expect(halves?.map(({ text }) => text)).toEqual(['😀😀', '😀']);
  expect(halve({ text: 'x', tokens: 1 })).toBeNull();
});

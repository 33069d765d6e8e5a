import { expect, test } from '@jest/globals';
import { CL100K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { PreTokens } from '../../documents/chunking/preTokens.js';
import { Seeded } from './randomText.js';

const FRAGMENTS = [
  ...["'", 's', 'T', 'll', 'L', 'v', 'E', 're', 'a', 'B', '1', '23', '4567', ' ', '  ', '\t', '\n', '\r', '\r\n'],
  ...['.', '(', '-', '\u0001', '\u007f', 'é', '字', '²', '\u00a0', '\u2028', '\ufeff', '—', '🦄', '|', '<'],
];

test('splits random texts into the same pieces as the regular expression', () => {
  const random = new Seeded(5);
  for (let i = 0; i < 60_000; i++) {
    const text = Array.from({ length: 1 + random.below(8) }, () => random.pick(FRAGMENTS)).join('');
    const ends: number[] = [];
    const preTokens = new PreTokens(text);
    while (preTokens.next()) ends.push(preTokens.end);
    const expected = [...text.matchAll(CL100K_TOKEN_SPLIT_REGEX)].map(({ index, 0: piece }) => index + piece.length);
    if (ends.join() !== expected.join()) expect([text, ends]).toEqual([text, expected]);
  }
});

test('splits a text that PreTokens copies in several parts into the same pieces as the regular expression', () => {
  const random = new Seeded(6);
  // Some pieces are longer than a copied part, and surrogate pairs occur at any position of a part.
  const long = ['a'.repeat(40_000), ' '.repeat(40_000), '-'.repeat(1500), '\n '.repeat(900), '🦄'.repeat(700)];
  const fragments = Array.from({ length: 60_000 }, () => random.pick(FRAGMENTS));
  for (const [nth, piece] of long.entries()) fragments[nth * 11_111] = piece;
  const text = fragments.join('');
  const ends: number[] = [];
  const preTokens = new PreTokens(text);
  while (preTokens.next()) ends.push(preTokens.end);
  expect(ends).toEqual([...text.matchAll(CL100K_TOKEN_SPLIT_REGEX)].map(({ index, 0: piece }) => index + piece.length));
});

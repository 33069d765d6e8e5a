import { expect, test } from '@jest/globals';
import { CL100K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { countTokens } from '../../documents/chunking/countTokens.js';
import { forEachPreToken } from '../../documents/chunking/preTokens.js';
import { TokenTable } from '../../documents/chunking/tokenTable.js';
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
    forEachPreToken(text, (_start, end) => ends.push(end) > 0);
    const expected = [...text.matchAll(CL100K_TOKEN_SPLIT_REGEX)].map(({ index, 0: piece }) => index + piece.length);
    if (ends.join() !== expected.join()) expect([text, ends]).toEqual([text, expected]);
  }
});

test('returns correct token counts for more pieces than the table can hold', () => {
  const table = new TokenTable();
  const tokensOf = (piece: string): number => [...piece].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 49;
  const pieces = Array.from({ length: 120_000 }, (_, nth) => `w${nth.toString(36)}`);
  let counted = 0;
  const count = (piece: string): number => {
    counted += 1;
    return tokensOf(piece);
  };
  for (const piece of [...pieces, ...pieces.slice(-1000)]) {
    const tokens = table.tokensOf(`before ${piece} behind`, 7, 7 + piece.length, count);
    if (tokens !== tokensOf(piece)) expect([piece, tokens]).toEqual([piece, tokensOf(piece)]);
  }
  // The last thousand pieces were still in the table when they were repeated.
  expect(counted).toBeLessThanOrEqual(pieces.length + 20);
  expect(countTokens('a b')).toBe(2);
});

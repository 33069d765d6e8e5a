import { expect, test } from '@jest/globals';
import { countTokens as reference } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens } from '../../documents/chunking/countTokens.js';
import { randomText, Seeded } from './randomText.js';

const expected = (text: string): number => reference(text, { disallowedSpecial: new Set() });

test.each([
  ['', 0],
  ['hello world', 2],
  ['tiktoken is great!', 6],
  ['<|endoftext|>', 7],
])('counts %j as %d tokens', (text, tokens) => {
  expect(countTokens(text)).toBe(tokens);
});

test('counts the same tokens as gpt-tokenizer in random texts', () => {
  const random = new Seeded(7);
  for (let i = 0; i < 400; i++) {
    const text = randomText(random, 1 + random.below(200));
    expect([text, countTokens(text)]).toEqual([text, expected(text)]);
  }
});

test('counts the same tokens as gpt-tokenizer in long pieces', () => {
  const random = new Seeded(11);
  for (let i = 0; i < 20; i++) {
    const letters = Array.from({ length: 50 + random.below(400) }, () =>
      String.fromCharCode(97 + random.below(26)),
    ).join('');
    expect([letters, countTokens(letters)]).toEqual([letters, expected(letters)]);
  }
  expect(countTokens('字'.repeat(900))).toBe(expected('字'.repeat(900)));
});

test('counts the same tokens as gpt-tokenizer for more words than the cache holds', () => {
  const words = Array.from({ length: 90_000 }, (_, nth) =>
    nth.toString(26).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'.charAt(Number(digit))),
  );
  const text = [...words, ...words.slice(-1000), ...words.slice(0, 1000)].join(' ');
  expect(countTokens(text)).toBe(expected(text));
});

test('counts a one-megabyte word within 20 s of CPU time', () => {
  const started = process.cpuUsage();
  expect(countTokens('a'.repeat(1_000_000))).toBe(125_000);
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(20_000);
});

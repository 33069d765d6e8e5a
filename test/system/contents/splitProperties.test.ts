import { expect, test } from '@jest/globals';
import { countTokens as reference } from 'gpt-tokenizer/encoding/cl100k_base';
import { splitText } from '../../../documents/chunking/splitText.js';
import type { ChunkOptions } from '../../../documents/types.js';
import { isThorough } from '../../support/thorough.js';
import { randomText, Seeded } from '../../documents/randomText.js';

const count = (text: string): number => reference(text, { disallowedSpecial: new Set() });

/** Whether the text has no lone surrogate. */
const isWhole = (text: string): boolean => !/\p{Cs}/u.test(text);

/** Returns a message for each invariant that the chunks of the text violate, at most five. */
function violations(text: string, options: ChunkOptions): string[] {
  const { chunks, numTokens } = splitText(text, options);
  const wrong: string[] = [];
  const check = (holds: boolean, what: string): void => {
    if (!holds) wrong.push(what);
  };
  check(numTokens === count(text), 'numTokens is not the count of the whole text');
  const covered = new Uint8Array(text.length);
  chunks.forEach((chunk, i) => {
    const chunkText = text.slice(chunk.start, chunk.end);
    const at = `chunk ${i} (${chunk.start}-${chunk.end})`;
    check(
      chunk.text.endsWith(chunkText) && (options.prefix !== null || chunk.text === chunkText),
      `${at} is not the text between its offsets`,
    );
    check(chunkText === chunkText.trim() && chunkText !== '', `${at} is empty or not trimmed`);
    check(chunk.tokens === count(chunk.text), `${at} has ${count(chunk.text)} tokens, not ${chunk.tokens}`);
    check(
      chunk.tokens <= options.chunkSize || [...chunkText].length === 1,
      `${at} has ${chunk.tokens} tokens, more than the chunk size`,
    );
    check(isWhole(chunkText) || !isWhole(text), `${at} cuts a character`);
    covered.fill(1, chunk.start, chunk.end);
    const previous = chunks[i - 1];
    if (previous === undefined) return;
    check(
      chunk.start > previous.start && chunk.end > previous.end,
      `${at} does not start and end after the previous one`,
    );
    const shared = count(text.slice(chunk.start, Math.max(chunk.start, previous.end)));
    check(shared <= options.chunkOverlap, `${at} shares ${shared} tokens, more than the overlap`);
  });
  for (let i = 0; i < text.length; i++)
    if (covered[i] === 0 && /\S/.test(text.charAt(i))) check(false, `character ${i} is in no chunk`);
  return wrong.slice(0, 5);
}

test('satisfies the invariants for random texts, sizes, overlaps and prefixes', () => {
  const random = new Seeded(42);
  for (let i = 0; i < (isThorough() ? 1_000 : 100); i++) {
    const text = randomText(random, 1 + random.below(300));
    const chunkSize = random.pick([1, 2, 3, 5, 8, 13, 30, 100, 400, 1500]);
    const options = {
      chunkSize,
      chunkOverlap: random.below(chunkSize),
      prefix: random.pick([null, null, 'notes.md', 'A very long name of a file. '.repeat(9), '🦄🦄🦄']),
    };
    expect([i, options, violations(text, options)]).toEqual([i, options, []]);
  }
});

test('satisfies the invariants for repetitive texts', () => {
  const texts = [
    'a'.repeat(3000),
    '字'.repeat(1000),
    '🦄'.repeat(300),
    '👩‍👩‍👧'.repeat(100),
    '='.repeat(3000),
    '. '.repeat(900),
    '# a\n'.repeat(400),
    '| a '.repeat(400),
    '```\n'.repeat(300),
    '\ud83e'.repeat(50),
    ' \n'.repeat(500),
    'x',
    '',
  ];
  for (const text of texts) {
    for (const chunkSize of [1, 4, 50, 1500]) {
      const options = { chunkSize, chunkOverlap: chunkSize >> 2, prefix: null };
      expect([text.slice(0, 9), options, violations(text, options)]).toEqual([text.slice(0, 9), options, []]);
    }
  }
});

test('returns the same chunks for the same text', () => {
  const text = randomText(new Seeded(3), 500);
  const options = { chunkSize: 40, chunkOverlap: 10, prefix: 'x' };
  expect(splitText(text, options)).toEqual(splitText(text, options));
});

test('splits a one-megabyte word within 30 s of CPU time', () => {
  const started = process.cpuUsage();
  const { chunks } = splitText('ab'.repeat(500_000), { chunkSize: 1500, chunkOverlap: 20, prefix: null });
  expect(chunks.at(-1)?.end).toBe(1_000_000);
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(30_000);
});

import { expect, test } from '@jest/globals';

import { CHUNK_LIMITS, JSON_LIMITS, type JsonLimits } from '../../api/http/body/json/limits.js';
import { parseJson } from '../../api/http/body/json/parse.js';
import { type SeededRandom, seededRandom } from '../support/seed.js';
import { isThorough } from '../support/thorough.js';

const parse = (text: string, sliceBytes?: number, limits: JsonLimits = JSON_LIMITS): Promise<unknown> =>
  parseJson(Buffer.from(text), limits, sliceBytes);

/** Result of a parser as text, including the order of keys. */
const outcomeOf = (value: unknown): string => JSON.stringify(value) ?? 'undefined';
function ofJsonParse(text: string): string {
  try {
    return outcomeOf(JSON.parse(text));
  } catch {
    return 'refused';
  }
}
const ofSlices = (text: string, sliceBytes: number): Promise<string> =>
  parse(text, sliceBytes).then(outcomeOf, (error: unknown) =>
    error instanceof SyntaxError ? 'refused' : String(error),
  );

const SCALARS = ['1', '-2.5e+3', '0', 'true', 'null', '"a"', '""', '"\\"],}"', '"\\\\"', '"é漢👩"', '"\\u00e9 \\n"'];
const KEYS = ['"a"', '"b"', '"10"', '"2"', '"__proto__"', '"x\\"y"', '"a"', '"constructor"'];
const SPACES = ['', '', ' ', '\n', '\t '];

function write(chance: SeededRandom, depth: number): string {
  const space = () => chance.pick(SPACES);
  if (depth === 0 || chance.below(4) === 0) return chance.pick(SCALARS);
  const parts = Array.from({ length: chance.below(6) }, () => `${space()}${write(chance, depth - 1)}${space()}`);
  if (chance.below(2) === 0) return `[${parts.join()}${space()}]`;
  return `{${parts.map((part) => `${space()}${chance.pick(KEYS)}${space()}:${part}`).join()}}`;
}

const TOKENS = [
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '"',
  '\\',
  ' ',
  '1',
  '-',
  'a',
  '\u00a0',
  ',]',
  ',}',
  ',,',
  '[]',
  '{}',
  '"a":',
];
/** Removes at most one UTF-16 unit at a random position, and inserts at most one token there. */
function spoil(chance: SeededRandom, text: string): string {
  const at = chance.below(text.length + 1);
  const spoiled = text.slice(0, at) + chance.pick(['', ...TOKENS]) + text.slice(at + chance.below(2));
  // A single half of a surrogate pair cannot be encoded as UTF-8.
  return spoiled.toWellFormed();
}

test('accepts and refuses the same texts as JSON.parse, in slices of any size', async () => {
  const chance = seededRandom('JSON in slices');
  for (let iteration = 0; iteration < (isThorough() ? 20_000 : 400); iteration += 1) {
    const text = write(chance, 5);
    for (const candidate of [text, spoil(chance, text), spoil(chance, spoil(chance, text))]) {
      const sliceBytes = chance.pick([1, 2, 5, 20, 100]);
      const outcome = await ofSlices(candidate, sliceBytes);
      if (outcome !== ofJsonParse(candidate)) throw new Error(`slices of ${sliceBytes}: ${candidate} is ${outcome}`);
    }
  }
});

test('does not change prototypes', async () => {
  const body = (await parse('{"__proto__":{"admin":true},"list":[1,2,3]}', 1)) as object;
  expect(Object.keys(body)).toEqual(['__proto__', 'list']);
  expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
});

const many = (count: number, of: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => of(i)).join();
test.each<[string, number, (count: number) => string, JsonLimits]>([
  ['keys in one object', 1_000, (count) => `{${many(count, (i) => `"k${i}":1`)}}`, JSON_LIMITS],
  ['keys in objects of a list', 25_000, (count) => `[${many(count, () => '{"k":"v"}')}]`, JSON_LIMITS],
  ['empty objects and their list', 59_999, (count) => `[${many(count, () => '{}')}]`, JSON_LIMITS],
  ['texts', 59_999, (count) => `[${many(count, () => '""')}]`, JSON_LIMITS],
  ['literals', 59_999, (count) => `[${many(count, () => 'null')}]`, JSON_LIMITS],
  ['numbers', 60_000, (count) => `[${many(count, () => '-1.5e+7')}]`, JSON_LIMITS],
  ['levels', 64, (count) => '['.repeat(count) + ']'.repeat(count), JSON_LIMITS],
  ['keys in a body with chunks', 65_000, (count) => `[${many(count, () => '{"k":1}')}]`, CHUNK_LIMITS],
])('refuses more %s than %d with 422', async (_what, limit, text, limits) => {
  expect(outcomeOf(await parse(text(limit), undefined, limits))).toBe(ofJsonParse(text(limit)));
  await expect(parse(text(limit + 1), undefined, limits)).rejects.toMatchObject({ status: 422 });
});

test('does not count brackets and keys inside texts', async () => {
  const text = JSON.stringify({ text: '{"[,:1'.repeat(100_000) });
  expect(outcomeOf(await parse(text))).toBe(text);
});

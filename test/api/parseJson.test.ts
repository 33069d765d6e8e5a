import { expect, test } from '@jest/globals';

import { CHUNK_LIMITS, JSON_LIMITS, type JsonLimits } from '../../api/http/json/limits.js';
import { parseJson } from '../../api/http/json/parse.js';
import { type Chance, seededChance } from '../support/seed.js';
import { isThorough } from '../support/thorough.js';

const parse = (text: string, sliceBytes?: number, limits: JsonLimits = JSON_LIMITS): Promise<unknown> =>
  parseJson(Buffer.from(text), limits, sliceBytes);

/** What either parser makes of a text: the value as text, its order of keys included, or that it is refused. */
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

function write(chance: Chance, depth: number): string {
  const space = () => chance.pick(SPACES);
  if (depth === 0 || chance.below(4) === 0) return chance.pick(SCALARS);
  const parts = Array.from({ length: chance.below(6) }, () => `${space()}${write(chance, depth - 1)}${space()}`);
  if (chance.below(2) === 0) return `[${parts.join()}${space()}]`;
  return `{${parts.map((part) => `${space()}${chance.pick(KEYS)}${space()}:${part}`).join()}}`;
}

const SIGNS = [
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
/** One sign is taken out, put in, or replaced. */
function spoil(chance: Chance, text: string): string {
  const at = chance.below(text.length + 1);
  const spoiled = text.slice(0, at) + chance.pick(['', ...SIGNS]) + text.slice(at + chance.below(2));
  // Half of a pair has no UTF-8.
  return spoiled.toWellFormed();
}

test('parses in slices of any size what JSON.parse parses, and refuses what it refuses', async () => {
  const chance = seededChance('JSON in slices');
  for (let round = 0; round < (isThorough() ? 20_000 : 1_500); round += 1) {
    const text = write(chance, 5);
    for (const one of [text, spoil(chance, text), spoil(chance, spoil(chance, text))]) {
      const sliceBytes = chance.pick([1, 2, 5, 20, 100]);
      const outcome = await ofSlices(one, sliceBytes);
      if (outcome !== ofJsonParse(one)) throw new Error(`slices of ${sliceBytes}: ${one} is ${outcome}`);
    }
  }
});

test('leaves prototypes as they are', async () => {
  const body = (await parse('{"__proto__":{"admin":true},"list":[1,2,3]}', 1)) as object;
  expect(Object.keys(body)).toEqual(['__proto__', 'list']);
  expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
});

const many = (count: number, of: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => of(i)).join();
test.each<[string, number, (count: number) => string, JsonLimits]>([
  ['keys in one object', 1_000, (count) => `{${many(count, (i) => `"k${i}":1`)}}`, JSON_LIMITS],
  ['keys in objects of a list', 25_000, (count) => `[${many(count, () => '{"k":"v"}')}]`, JSON_LIMITS],
  ['empty objects beside their list', 59_999, (count) => `[${many(count, () => '{}')}]`, JSON_LIMITS],
  ['texts', 59_999, (count) => `[${many(count, () => '""')}]`, JSON_LIMITS],
  ['literals', 59_999, (count) => `[${many(count, () => 'null')}]`, JSON_LIMITS],
  ['numbers', 60_000, (count) => `[${many(count, () => '-1.5e+7')}]`, JSON_LIMITS],
  ['levels', 64, (count) => '['.repeat(count) + ']'.repeat(count), JSON_LIMITS],
  ['keys beside chunks', 65_000, (count) => `[${many(count, () => '{"k":1}')}]`, CHUNK_LIMITS],
])('refuses more %s than %d with 422', async (_what, limit, text, limits) => {
  expect(outcomeOf(await parse(text(limit), undefined, limits))).toBe(ofJsonParse(text(limit)));
  await expect(parse(text(limit + 1), undefined, limits)).rejects.toMatchObject({ status: 422 });
});

test('counts neither brackets nor keys inside of texts', async () => {
  const text = JSON.stringify({ text: '{"[,:1'.repeat(100_000) });
  expect(outcomeOf(await parse(text))).toBe(text);
});

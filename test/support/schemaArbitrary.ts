/** fast-check arbitraries for values of a JSON Schema, and for values with one part replaced. */
import fc from 'fast-check';

import { choices, type Document, type Schema } from './contract.js';

/** Maximum number of entries of a generated array. */
const MAX_ENTRIES = 4;

/** Generates values of a schema. @param strings texts with a meaning for the service, used as well as random texts */
export function valuesOf(document: Document, schema: Schema, strings: readonly string[]): fc.Arbitrary<unknown> {
  const options = choices(document, schema).flatMap((choice) =>
    [choice.type].flat().map((type) => ofType(document, choice, String(type), strings)),
  );
  return fc.oneof(...options);
}

function ofType(document: Document, schema: Schema, type: string, strings: readonly string[]): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const bound = (keyword: string, fallback: number): number => Number(schema[keyword] ?? fallback);
  switch (type) {
    case 'object':
      return objects(document, schema, strings);
    case 'array':
      return fc.array(valuesOf(document, schema.items ?? {}, strings), {
        minLength: bound('minItems', 0),
        maxLength: Math.max(bound('minItems', 0), Math.min(bound('maxItems', MAX_ENTRIES), MAX_ENTRIES)),
      });
    case 'integer': {
      const [min, max] = [bound('minimum', Number.MIN_SAFE_INTEGER), bound('maximum', Number.MAX_SAFE_INTEGER)];
      return fc
        .oneof(fc.integer({ min: Math.max(min, 0), max: Math.min(max, 30) }), fc.maxSafeInteger())
        .map((value) => Math.min(max, Math.max(min, value)));
    }
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return fc.oneof(
        fc.constantFrom(...strings),
        fc.string({ unit: 'grapheme', minLength: bound('minLength', 0), maxLength: 40 }),
      );
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objects(document: Document, schema: Schema, strings: readonly string[]): fc.Arbitrary<unknown> {
  const additional = schema['additionalProperties'];
  if (typeof additional === 'object' && !schema.properties)
    return fc.dictionary(fc.string({ maxLength: 12 }), valuesOf(document, additional as Schema, strings), {
      maxKeys: 3,
    });
  if (!schema.properties)
    return fc.dictionary(fc.string({ maxLength: 12 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
  const fields = Object.entries(schema.properties).map(
    ([name, field]) => [name, valuesOf(document, field, strings)] as const,
  );
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...(schema.required ?? [])] });
}

/** Values that few or no fields accept. */
const JUNK: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 53,
  -1e300,
  '',
  'null',
  '\0',
  '\uD800',
  'x'.repeat(5_000),
  [],
  [null],
  [[]],
  {},
  { $gt: '' },
  { $where: 'sleep(1000)' },
  { AND: [] },
  { constructor: { prototype: {} } },
];

type Path = readonly (string | number)[];

function pathsIn(value: unknown, prefix: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [prefix];
  const members = Array.isArray(value)
    ? value.flatMap((member, index) => pathsIn(member, [...prefix, index]))
    : Object.entries(value).flatMap(([key, member]) => pathsIn(member, [...prefix, key]));
  return [prefix, ...members];
}

function replaced(value: unknown, [key, ...rest]: Path, junk: unknown): unknown {
  if (key === undefined) return junk;
  if (Array.isArray(value))
    return value.map((member, index) => (index === key ? replaced(member, rest, junk) : member));
  return { ...(value as object), [key]: replaced((value as Record<string, unknown>)[key], rest, junk) };
}

/** Generates the same values, with one part of each replaced by an entry of JUNK. */
export const withJunk = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(values, fc.nat(), fc.constantFrom(...JUNK)).map(([value, choice, junk]) => {
    const paths = pathsIn(value);
    return replaced(value, paths[choice % paths.length] ?? [], junk);
  });

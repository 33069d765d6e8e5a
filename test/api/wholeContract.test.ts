import { expect, test } from '@jest/globals';

import { EXTENSIONS } from '../../api/extensions.js';
import { operations } from '../../api/routes.js';
import { differences } from '../support/comparedSchemas.js';
import {
  allowsNull,
  answerOf,
  choices,
  type Document,
  enumOf,
  ours,
  type Schema,
  theirs,
  usualAnswerOf,
} from '../support/contract.js';
import { everyRow } from '../support/everyRow.js';

/** Every operation of the contract that this server has, beside its requests' bodies: those are in requestContract.test.ts. */
const both = operations
  .filter(({ method, path }) => theirs.paths[path]?.[method])
  .map(({ method, path }) => [method, path] as const);
const described = (document: Document, method: string, path: string) => document.paths[path]![method]!;

test('whatever is compared below is all there is, but for the live reads that are not built', () => {
  const left = Object.entries(theirs.paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) => (both.some(([a, b]) => a === method && b === path) ? [] : [path])),
  );
  expect(left.filter((path) => !path.startsWith('/integrations/data/github/'))).toEqual([]);
});

/** Limits that only we have are in docs/api/conventions.md. */
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'pattern'];
const boundsOf = (document: Document, schema: Schema) =>
  Object.fromEntries(
    choices(document, schema).flatMap((one) => Object.entries(one).filter(([word]) => BOUNDS.includes(word))),
  );
/** Of a list in a query its members: one alone is written as it is. */
const typesOf = (document: Document, schema: Schema): unknown[] => {
  const types = choices(document, schema).flatMap((one) => [one.type].flat());
  const single = types.includes('array') ? types.filter((type) => type !== 'string') : types;
  return [...new Set(single)].filter((type) => type !== 'null').toSorted((a, b) => String(a).localeCompare(String(b)));
};

function parametersOf(document: Document, method: string, path: string) {
  const added = Object.keys(EXTENSIONS.headers).map((name) => name.toLowerCase());
  return (described(document, method, path).parameters ?? [])
    .filter((one) => !(one.in === 'header' && added.includes(one.name.toLowerCase())))
    .toSorted((a, b) => `${a.in} ${a.name}`.localeCompare(`${b.in} ${b.name}`))
    .map(({ name, in: where, required = false, schema }) => ({
      ...{ name, where, required, types: typesOf(document, schema), values: enumOf(document, schema) },
      nullable: allowsNull(document, schema),
      default: `${path.slice(1)}.${name}` in EXTENSIONS.defaults ? null : (schema.default ?? null),
    }));
}

const rows = both.map(([method, path]) => {
  return { method, path, mine: described(ours, method, path), other: described(theirs, method, path) };
});
const each = (rule: (row: (typeof rows)[number]) => void) =>
  everyRow(rows, ({ method, path }) => `${method} ${path}`, rule);

test('every operation takes just the parameters of the contract, as it describes them', () =>
  each(({ method, path, mine, other }) => {
    expect(parametersOf(ours, method, path)).toEqual(parametersOf(theirs, method, path));
    for (const { name, in: where, schema } of other.parameters ?? []) {
      const own = mine.parameters?.find((one) => one.name === name && one.in === where);
      expect(boundsOf(ours, own?.schema ?? {})).toMatchObject(boundsOf(theirs, schema));
    }
  }));

test('every operation takes a body of the kinds that the contract names, or none', () =>
  each(({ method, path, mine, other }) => {
    expect(Object.keys(mine.requestBody?.content ?? {})).toEqual(Object.keys(other.requestBody?.content ?? {}));
    const optional: readonly string[] = EXTENSIONS.optionalBodies;
    const isRequired = (other.requestBody?.required ?? false) && !optional.includes(`${method.toUpperCase()} ${path}`);
    expect(mine.requestBody?.required ?? false).toBe(isRequired);
  }));

test('every operation is called with the credentials that the contract names', () =>
  each(({ mine, other }) => {
    expect(mine.security).toEqual(other.security);
  }));

test('every operation answers just what the contract describes, and no more than api/extensions.ts adds', () =>
  each(({ method, path, mine, other }) => {
    expect(Object.keys(mine.responses)).toEqual(expect.arrayContaining(Object.keys(other.responses)));
    const prefix = `${method.toUpperCase()} ${path}.`;
    const added = new Set(
      Object.keys(EXTENSIONS.fields).flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : [])),
    );
    const [answer, wanted] = [usualAnswerOf(method, path), answerOf(theirs, method, path) ?? {}];
    const ofRecords = new Set(Object.keys(EXTENSIONS.records));
    expect(differences({ ours, theirs, added, ofRecords }, answer, wanted)).toEqual([]);
  }));

test('a difference would be seen', () => {
  const compared = { ours, theirs, added: new Set(['c']) };
  const wanted: Schema = {
    type: 'object',
    required: ['a'],
    properties: {
      a: { type: 'string', enum: ['x', 'y'] },
      b: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      d: { type: 'array', items: { type: 'object', properties: { e: { type: 'string' } } } },
    },
  };
  const of = (properties: Record<string, Schema>, required: string[] = ['a']): string[] =>
    differences(compared, { type: 'object', required, properties }, wanted);
  const a: Schema = { type: 'string', enum: ['x'] };
  const b: Schema = { type: ['integer', 'null'] };
  const d: Schema = { type: 'array', items: { type: 'object', properties: { e: { type: 'string' } } } };
  expect(of({ a, b, d, c: { type: 'string', 'x-allotrope-extension': true } })).toEqual([]);
  expect(of({ a, b, d, c: { type: 'string' } })).toEqual(['c: is not marked as an extension']);
  expect(of({ a, b, d }, [])).toEqual(['a: may be absent']);
  expect(of({ a: { type: 'string' }, b, d })).toEqual(['a: may be any string']);
  expect(of({ a: { type: 'string', enum: ['z'] }, b, d })).toEqual(['a: may be z']);
  expect(of({ a, b: { type: 'string' }, d })).toEqual(['b: may be string']);
  expect(of({ a: { type: ['string', 'null'], enum: ['x', null] }, b, d })).toEqual(['a: may be null']);
  expect(of({ a, b })).toEqual(['d: is not described']);
  expect(of({ a, b, d: { type: 'array', items: { type: 'object', properties: { f: a } } } })).toEqual([
    'd.[].e: is not described',
    'd.[].f: is not in the contract',
  ]);
});

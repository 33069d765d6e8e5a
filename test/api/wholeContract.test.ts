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
  ourDocument,
  type Schema,
  publishedDocument,
  usualAnswerOf,
} from '../support/contract.js';
import { everyRow } from '../support/everyRow.js';

/** All operations shared with the contract. Their request bodies are in requestContract.test.ts. */
const sharedOperations = operations
  .filter(({ method, path }) => publishedDocument.paths[path]?.[method])
  .map(({ method, path }) => [method, path] as const);
const described = (document: Document, method: string, path: string) => document.paths[path]![method]!;

test('the comparison covers every operation of the contract', () => {
  const uncovered = Object.entries(publishedDocument.paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) =>
      sharedOperations.some(([a, b]) => a === method && b === path) ? [] : [path],
    ),
  );
  expect(uncovered).toEqual([]);
});

/**
 * Keywords of JSON Schema that limit a value. Our document must have those of the contract, and may have more:
 * docs/api/conventions.md describes the limits that we add.
 */
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'pattern'];
const boundsOf = (document: Document, schema: Schema) =>
  Object.fromEntries(
    choices(document, schema).flatMap((choice) => Object.entries(choice).filter(([word]) => BOUNDS.includes(word))),
  );
/**
 * Returns the types, without null. A `string` next to a list is omitted: for a list in a query, our document also
 * accepts a single value, and the contract does not.
 */
const typesOf = (document: Document, schema: Schema): unknown[] => {
  const types = choices(document, schema).flatMap((choice) => [choice.type].flat());
  const single = types.includes('array') ? types.filter((type) => type !== 'string') : types;
  return [...new Set(single)].filter((type) => type !== 'null').toSorted((a, b) => String(a).localeCompare(String(b)));
};

function parametersOf(document: Document, method: string, path: string) {
  const added = Object.keys(EXTENSIONS.headers).map((name) => name.toLowerCase());
  return (described(document, method, path).parameters ?? [])
    .filter((parameter) => !(parameter.in === 'header' && added.includes(parameter.name.toLowerCase())))
    .filter((parameter) => !(`${path.slice(1)}.${parameter.name}` in EXTENSIONS.requestFields))
    .toSorted((a, b) => `${a.in} ${a.name}`.localeCompare(`${b.in} ${b.name}`))
    .map(({ name, in: where, required = false, schema }) => ({
      ...{ name, where, required, types: typesOf(document, schema), values: enumOf(document, schema) },
      nullable: allowsNull(document, schema),
      default: `${path.slice(1)}.${name}` in EXTENSIONS.defaults ? null : (schema.default ?? null),
    }));
}

const rows = sharedOperations.map(([method, path]) => {
  return { method, path, own: described(ourDocument, method, path), other: described(publishedDocument, method, path) };
});
const each = (rule: (row: (typeof rows)[number]) => void) =>
  everyRow(rows, ({ method, path }) => `${method} ${path}`, rule);

test('every operation has the parameters of the contract, and no others than those in api/extensions.ts', () =>
  each(({ method, path, own, other }) => {
    expect(parametersOf(ourDocument, method, path)).toEqual(parametersOf(publishedDocument, method, path));
    for (const { name, in: where, schema } of other.parameters ?? []) {
      const parameter = own.parameters?.find((candidate) => candidate.name === name && candidate.in === where);
      expect(boundsOf(ourDocument, parameter?.schema ?? {})).toMatchObject(boundsOf(publishedDocument, schema));
    }
  }));

test('every operation takes a body of the media types of the contract, and none where the contract has none', () =>
  each(({ method, path, own, other }) => {
    expect(Object.keys(own.requestBody?.content ?? {})).toEqual(Object.keys(other.requestBody?.content ?? {}));
    const optional: readonly string[] = EXTENSIONS.optionalBodies;
    const isRequired = (other.requestBody?.required ?? false) && !optional.includes(`${method.toUpperCase()} ${path}`);
    expect(own.requestBody?.required ?? false).toBe(isRequired);
  }));

test('every operation requires the credentials of the contract', () =>
  each(({ own, other }) => {
    expect(own.security).toEqual(other.security);
  }));

test('every answer has the fields and enum values of the contract, and no others than those in api/extensions.ts', () =>
  each(({ method, path, own, other }) => {
    expect(Object.keys(own.responses)).toEqual(expect.arrayContaining(Object.keys(other.responses)));
    const prefix = `${method.toUpperCase()} ${path}.`;
    const added = new Set(
      Object.keys(EXTENSIONS.fields).flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : [])),
    );
    const [answer, contractAnswer] = [usualAnswerOf(method, path), answerOf(publishedDocument, method, path) ?? {}];
    const ofRecords = new Set(Object.keys(EXTENSIONS.records));
    const values = new Set(Object.keys(EXTENSIONS.values));
    expect(
      differences({ ours: ourDocument, theirs: publishedDocument, added, ofRecords, values }, answer, contractAnswer),
    ).toEqual([]);
  }));

test('the comparison reports differences', () => {
  const compared = { ours: ourDocument, theirs: publishedDocument, added: new Set(['c']), values: new Set<string>() };
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
  expect(of({ a: { type: 'string', enum: ['z'] }, b, d })).toEqual(['a: may be z, which is not in EXTENSIONS.values']);
  compared.values.add('z');
  expect(of({ a: { type: 'string', enum: ['z'] }, b, d })).toEqual([]);
  expect(of({ a, b: { type: 'string' }, d })).toEqual(['b: may be string']);
  expect(of({ a: { type: ['string', 'null'], enum: ['x', null] }, b, d })).toEqual(['a: may be null']);
  expect(of({ a, b })).toEqual(['d: is not described']);
  expect(of({ a, b, d: { type: 'array', items: { type: 'object', properties: { f: a } } } })).toEqual([
    'd.[].e: is not described',
    'd.[].f: is not in the contract',
  ]);
});

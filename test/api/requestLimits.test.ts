import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type Joi from 'joi';

import { operations, pages } from '../../api/routes.js';
import { tags, tagTree } from '../../api/schemas/tags.js';
import { searchUrls } from '../../api/web/searchUrls.js';
import {
  bodyOf,
  choices,
  type Document,
  fieldsOf,
  ourDocument,
  publishedDocument,
  type Schema,
} from '../support/contract.js';
import { everyRow } from '../support/everyRow.js';

const BOUNDS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems', 'minLength', 'maxLength'],
  ...['minProperties', 'maxProperties', 'default'],
];

interface Input {
  readonly required: boolean;
  readonly bounds: Readonly<Record<string, unknown>>;
}

/** Returns the parameters and fields of a request by name. Fields of several shapes with the same name are merged. */
function inputsOf(document: Document, method: string, path: string): Map<string, Input> {
  const found = new Map<string, Input>();
  const add = (name: string, required: boolean, schema: Schema): void => {
    const offered = [schema, ...choices(document, schema)];
    const members = offered.flatMap(({ items }) => (items && !items.properties ? choices(document, items) : []));
    const bounds = [
      ...offered.flatMap((one) => Object.entries(one).filter(([word]) => BOUNDS.includes(word))),
      ...members.flatMap((one) =>
        Object.entries(one).flatMap(([word, value]) => (BOUNDS.includes(word) ? [[`each ${word}`, value]] : [])),
      ),
    ];
    const known = found.get(name);
    found.set(name, {
      required: required && (known?.required ?? true),
      bounds: { ...known?.bounds, ...Object.fromEntries(bounds) },
    });
  };
  for (const { in: where, name, required = false, schema } of document.paths[path]?.[method]?.parameters ?? [])
    // Headers are the same for all operations.
    if (where !== 'header') add(`${where}.${name}`, required, schema);
  const body = document.paths[path]?.[method] && bodyOf(document, method, path);
  for (const field of body ? fieldsOf(document, body) : []) add(`body.${field.path}`, field.required, field.schema);
  return found;
}

const FLAGS = [
  ...(['takesFile', 'takesForm', 'fromOwnPages', 'takesContents', 'takesChunks', 'createsWork'] as const),
  ...(['changesRecords', 'searches'] as const),
];

/**
 * The contract fixes most types and defaults, but few bounds, and nothing of our own operations.
 * test/fixtures/requestLimits.txt lists all other rules, so that none of them changes by accident. After a deliberate
 * change, edit the line of the rule in that file, and CHANGELOG.md.
 */
test('the auth scheme, the flags and our own input rules of each operation are those of test/fixtures/requestLimits.txt', () => {
  const lines = [...operations, ...pages].flatMap((operation) => {
    const { method, path, auth } = operation;
    // The pages to which users return from the consent of a source are all alike.
    const isReturn = pages.includes(operation) && path.startsWith('/integrations/');
    const name = `${method.toUpperCase()} ${isReturn ? '/integrations/{source}' : path}`;
    const contract = inputsOf(publishedDocument, method, path);
    const inputs = [...inputsOf(ourDocument, method, path)].flatMap(([input, { required, bounds }]) => {
      const theirs = contract.get(input);
      const own = Object.entries(bounds)
        .filter(([word, value]) => JSON.stringify(theirs?.bounds[word]) !== JSON.stringify(value))
        .map(([word, value]) => `${word} ${JSON.stringify(value)}`);
      const rules = [...(required && !theirs?.required ? ['required'] : []), ...own];
      return rules.length === 0 ? [] : [`${name} ${input}: ${rules.join(', ')}`];
    });
    return [`${name}: ${[auth, ...FLAGS.filter((flag) => operation[flag])].join(', ')}`, ...inputs];
  });
  const fixture = readFileSync(new URL('../fixtures/requestLimits.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  const missing = fixture.filter((line) => !lines.includes(line));
  const added = [...new Set(lines)].filter((line) => !fixture.includes(line));
  expect({ missing, added }).toEqual({ missing: [], added: [] });
});

const nested = (levels: number): unknown =>
  levels === 0 ? { key: 'team', value: 'red' } : { AND: [nested(levels - 1)] };
const conditions = (count: number) => ({ OR: Array.from({ length: count }, () => nested(0)) });
const words = (count: number) => ({ query: Array.from({ length: count }, () => 'fern').join(' ') });

/** Limits that the published schema cannot express. */
const IN_CODE: readonly (readonly [
  name: string,
  schema: Joi.Schema,
  value: (size: number) => unknown,
  limit: number,
])[] = [
  ['characters of tags as JSON', tags(), (size) => ({ a: 'x'.repeat(size - '{"a":""}'.length) }), 65_536],
  ['characters of a tag key', tags(), (size) => ({ ['k'.repeat(size)]: 1 }), 256],
  ['levels of a tag tree', tagTree(), nested, 3],
  ['conditions of an AND or OR', tagTree(), conditions, 1_000],
  ['words of a web search', searchUrls.query!, words, 50],
];

test('a limit that the published schema cannot express accepts exactly its size and refuses one more', () =>
  everyRow(
    IN_CODE,
    ([name]) => name,
    ([, schema, value, limit]) => {
      expect(schema.validate(value(limit)).error).toBeUndefined();
      expect(schema.validate(value(limit + 1)).error).toBeDefined();
    },
  ));

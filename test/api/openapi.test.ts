import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

import { EXTENSIONS } from '../../api/extensions.js';
import { openApiDocument } from '../../api/openapi.js';
import { builtOperations, operations } from '../../api/routes.js';

type Schema = Record<string, unknown> & {
  $ref?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  anyOf?: Schema[];
};
interface Described {
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, { content: { 'application/json': { schema: Schema } } }>;
}
interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

const contract = JSON.parse(readFileSync(new URL('../fixtures/openapi.json', import.meta.url), 'utf8')) as Document;
const ours = openApiDocument() as unknown as Document;
const names = (document: Document): string[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );

/** Follows references, and takes the object out of `anyOf: [object, null]`. */
function resolve(schema: Schema): Schema {
  if (schema.$ref) return resolve(contract.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const object = schema.anyOf?.map(resolve).find((one) => one.properties);
  return object ?? schema;
}

/** Every field path of a request: pagination.limit and the like. */
function fields(schema: Schema, prefix = ''): string[] {
  return Object.entries(resolve(schema).properties ?? {}).flatMap(([name, inner]) => {
    // The contract leaves the tree of tags_v2 open; ours says what its text describes.
    const below = name === 'tags_v2' ? [] : fields(inner, `${prefix}${name}.`);
    return below.length > 0 ? below : [`${prefix}${name}`];
  });
}

describe('the operations', () => {
  test('all 94 of the contract have a route', () => {
    expect(names(contract)).toHaveLength(94);
    expect(names(contract).filter((name) => !names(ours).includes(name))).toEqual([]);
  });
  test('what we add is listed with its reason', () => {
    expect(
      names(ours)
        .filter((name) => !names(contract).includes(name))
        .sort(),
    ).toEqual(Object.keys(EXTENSIONS.operations).sort());
  });
  test('no operation stands twice', () => {
    const all = operations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(all).size).toBe(all.length);
  });
});

const shared = builtOperations.filter(({ method, path }) => contract.paths[path]?.[method]?.requestBody);

describe.each(shared.map(({ method, path }) => [method, path] as const))('%s %s', (method, path) => {
  const theirs = contract.paths[path]?.[method]?.requestBody?.content['application/json'].schema ?? {};
  const mine = ours.paths[path]?.[method]?.requestBody?.content['application/json'].schema ?? {};

  test('takes just the fields of the contract', () => {
    expect(fields(mine).sort()).toEqual(fields(theirs).sort());
  });
  test('requires just what the contract requires', () => {
    expect([...(resolve(mine).required ?? [])].sort()).toEqual([...(resolve(theirs).required ?? [])].sort());
  });
});

test('a file record is described with all 39 keys, as in the contract', () => {
  const described = ours.paths['/resync_file']?.['post']?.responses['200']?.content['application/json'].schema;
  expect(Object.keys(described?.properties ?? {}).sort()).toEqual(
    Object.keys(contract.components.schemas['UserFile']?.properties ?? {}).sort(),
  );
  expect(described?.required).toHaveLength(39);
});

test('failures are described beside success', () => {
  const responses = Object.keys(ours.paths['/scrape_sitemap']?.['post']?.responses ?? {});
  expect(responses).toEqual(expect.arrayContaining(['200', '401', '403', '404', '409', '413', '422', '429']));
});

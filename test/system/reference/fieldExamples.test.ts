import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { openApiDocument } from '../../../api/openapi/document.js';
import { withFieldExamples } from '../../../api/openapi/fieldExamples.js';
import { everyRow } from '../../support/everyRow.js';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
  readonly example?: unknown;
}
interface Read {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const document = openApiDocument() as unknown as Read;
const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, binary: true, uuid: true } });
const { components } = document;
const isValid = (schema: object, value: unknown): boolean =>
  ajv.compile(JSON.stringify(schema).includes('$ref') ? { ...schema, components } : schema)(value);

/** Returns all schemas with examples in a part of the document, with their paths. Skips recorded bodies. */
function exampled(part: unknown, path: string): { path: string; schema: Schema }[] {
  if (typeof part !== 'object' || part === null) return [];
  const inner = Object.entries(part).flatMap(([key, member]) =>
    ['example', 'examples', 'default'].includes(key) ? [] : exampled(member, `${path}.${key}`),
  );
  return Array.isArray((part as Schema).examples) ? [{ path, schema: part as Schema }, ...inner] : inner;
}

const properties = exampled(document.components.schemas, '');
const parameters = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.values(methods).flatMap((operation) =>
    (operation.parameters ?? [])
      .filter((parameter) => parameter.example !== undefined)
      .map((parameter) => ({ ...parameter, path: `${path} ${parameter.name}` })),
  ),
);

describe('examples in the reference', () => {
  test('there are more than 800', () => {
    const written = JSON.stringify(document).match(/"examples?":/g) ?? [];
    expect(written.length).toBeGreaterThan(800);
    expect(properties.length).toBeGreaterThan(500);
  });

  test('of properties are valid and short, and none is an enum value, a boolean, null, 0, an empty text or the default', () =>
    everyRow(
      properties,
      ({ path }) => path,
      ({ schema }) => {
        const [value, ...otherExamples] = schema.examples ?? [];
        expect(otherExamples).toEqual([]);
        expect(isValid(schema, value)).toBe(true);
        expect(schema.enum).toBeUndefined();
        expect([true, false, null, '', 0, schema.default]).not.toContainEqual(value);
        expect([value].flat().filter((member) => !['string', 'number'].includes(typeof member))).toEqual([]);
        expect(JSON.stringify(value).length).toBeLessThanOrEqual(82);
      },
    ));

  test('of parameters follow their schema', () =>
    everyRow(
      parameters,
      ({ path }) => path,
      ({ schema, example }) => expect(isValid(schema, example)).toBe(true),
    ));

  test('of properties have no secrets, and no shortened texts', () => {
    const texts = properties.map(({ path, schema }) => `${path} ${JSON.stringify(schema.examples)}`);
    expect(texts.filter((text) => /"<|…|:\/\/[^/"]*@/.test(text))).toEqual([]);
    const secretProperties = properties.filter(({ path }) => /secret|password|_token$|api_key|signing_key/.test(path));
    expect(secretProperties).toEqual([]);
  });

  test('are values that the tests recorded', () => {
    const exampleAt = (name: string, property: string): unknown =>
      document.components.schemas[name]?.properties?.[property]?.examples?.[0];
    expect(exampleAt('GetEmbeddingDocumentsBody', 'query')).toBe('birds that breed on cliffs');
    expect(exampleAt('FileStatistics', 'mime_type')).toBe('text/html');
    expect(exampleAt('SitemapUrls', 'urls')).toEqual([
      'https://www.example.com/pages/0.html',
      'https://www.example.com/pages/1.html',
    ]);
  });
});

describe('a recorded value', () => {
  const json = (schema: object, example: unknown) => ({ content: { 'application/json': { schema, example } } });
  const text = (description: string, keywords = {}) => ({ type: 'string', description, ...keywords });
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

  /** Returns the example of each property of the schemas, if a call had this response. */
  function examplesOf(schemas: Record<string, object>, schema: object, example: unknown): Record<string, unknown> {
    const described = { responses: { 200: json(schema, example) } };
    const withExamples = withFieldExamples({
      ...{ paths: { '/a': { get: described } }, webhooks: {} },
      components: { schemas: schemas as Record<string, Readonly<Record<string, unknown>>> },
    });
    return Object.fromEntries(
      exampled(withExamples.components.schemas, '').map(({ path, schema: propertySchema }) => [
        path,
        propertySchema.examples?.[0],
      ]),
    );
  }
  const object = (fields: object, keywords = {}) => ({ type: 'object', properties: fields, ...keywords });
  const exampleOf = (property: object, value: unknown): unknown =>
    examplesOf({ A: object({ a: property }) }, ref('A'), { a: value })['.A.properties.a'];

  test('is the example of the same field of every schema, and of no field with another meaning', () => {
    const schemas = {
      A: object({ id: text('Id of the file.') }),
      B: object({ id: text('Id of the file.') }),
      C: object({ id: text('Id of the user.') }),
      D: object({ id: text('Id of the file.', { maxLength: 2 }) }),
    };
    expect(examplesOf(schemas, ref('A'), { id: 'file-1' })).toEqual({
      '.A.properties.id': 'file-1',
      '.B.properties.id': 'file-1',
    });
  });

  test('is an example only in the anyOf alternative that matches the object with the value', () => {
    const kind = (name: string) => ({ type: 'string', enum: [name] });
    const schemas = {
      A: object({ kind: kind('a'), name: text('Name of a.') }, { required: ['kind'] }),
      B: object({ kind: kind('b'), name: text('Name of b.') }, { required: ['kind'] }),
      C: object({ name: text('Name of c.') }, { additionalProperties: false }),
      List: { type: 'array', items: { anyOf: [ref('A'), ref('B'), ref('C')] } },
    };
    expect(examplesOf(schemas, ref('List'), [{ kind: 'b', name: 'Ben' }])).toEqual({ '.B.properties.name': 'Ben' });
  });

  test('is omitted if it is empty, too short, too long, redacted or the default', () => {
    const property = text('A text.');
    expect(exampleOf(property, 'abc')).toBe('abc');
    for (const value of ['', 'b', null, '<api_key>', 'cut…', 'x'.repeat(81), 'https://ada:secret@example.com/feed'])
      expect(exampleOf(property, value)).toBeUndefined();
    expect(exampleOf({ type: 'integer' }, 7)).toBe(7);
    expect(exampleOf({ type: 'integer' }, 0)).toBeUndefined();
    expect(exampleOf({ type: 'integer', default: 7 }, 7)).toBeUndefined();
    expect(exampleOf({ type: 'boolean' }, true)).toBeUndefined();
    expect(exampleOf({ type: 'string', enum: ['open'] }, 'open')).toBeUndefined();
    expect(exampleOf(object({}), { a: 1 })).toBeUndefined();
  });

  test('may be a short list, but not a list of enums, of objects or of many values', () => {
    const list = (items: object) => ({ type: ['array', 'null'], items });
    expect(exampleOf(list({ type: 'integer' }), [5, 6])).toEqual([5, 6]);
    expect(exampleOf(list({ type: 'integer' }), [1, 2, 3, 4, 5])).toBeUndefined();
    expect(exampleOf(list({ type: 'string', enum: ['open'] }), ['open'])).toBeUndefined();
    expect(exampleOf(list({ type: 'object' }), [{}])).toBeUndefined();
    expect(exampleOf(list({ type: 'integer' }), [])).toBeUndefined();
  });

  test('does not replace an example, and is added to parameters too', () => {
    expect(exampleOf(text('A text.', { examples: ['given'] }), 'other')).toBe('given');
    const field = { name: 'id', description: 'Id of the file.', schema: { type: 'string' } };
    const parameterWith = (parameter: object): unknown => {
      const described = {
        parameters: [parameter as Readonly<Record<string, unknown>>],
        responses: { 200: json(object({ id: text('Id of the file.') }), { id: 'file-1' }) },
      };
      const withExamples = withFieldExamples({
        ...{ paths: { '/a': { get: described } }, webhooks: {}, components: { schemas: {} } },
      });
      return withExamples.paths['/a'].get.parameters[0];
    };
    expect(parameterWith({ ...field, in: 'query' })).toMatchObject({ example: 'file-1' });
    expect(parameterWith({ ...field, in: 'query', example: 'own' })).toMatchObject({ example: 'own' });
  });
});

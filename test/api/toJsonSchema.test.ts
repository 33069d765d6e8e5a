import { describe, expect, test } from '@jest/globals';
import Joi from 'joi';

import { createSchemas } from '../../api/openapi/toJsonSchema.js';
import { alsoAccepting, extension, hidden, keywords, named } from '../../api/schemas/reference.js';
import { numberList } from '../../api/schemas/numberList.js';

const input = (schema: Joi.Schema) => createSchemas().of(schema, 'input');
const output = (schema: Joi.Schema) => createSchemas().of(schema, 'output');

/** Returns the JSON Schema that Joi itself generates. */
const byJoi = (schema: Joi.Schema): unknown =>
  (
    schema['~standard'] as unknown as { jsonSchema: { output(options: { target: string }): unknown } }
  ).jsonSchema.output({ target: 'draft-2020-12' });

describe('schemas that Joi converts correctly have the same result', () => {
  test.each([
    Joi.string(),
    Joi.string().allow('').max(5),
    Joi.string().min(2).pattern(/^a/),
    Joi.string().isoDate().required(),
    Joi.string().valid('a', 'b').default('a'),
    Joi.number(),
    Joi.number().integer().min(1).max(3).default(2),
    Joi.number().greater(0).less(1),
    Joi.boolean(),
    Joi.boolean().default(false),
    Joi.string().allow(null),
    Joi.date().iso(),
    Joi.valid(null),
    Joi.valid(true),
    Joi.array().items(Joi.number()).min(1).max(2),
    Joi.array().items(Joi.string()).single(),
    Joi.alternatives(Joi.string(), Joi.number()),
    Joi.object({ a: Joi.string().required(), b: Joi.number().default(1) }),
    Joi.any(),
    numberList().min(1),
  ])('%#', (schema) => {
    expect(output(schema)).toEqual(byJoi(schema));
  });
});

describe('conversions that Joi lacks or gets wrong', () => {
  test('the null of an enum is one of its values', () => {
    expect(input(Joi.string().valid('a').allow(null))).toEqual({ type: ['string', 'null'], enum: ['a', null] });
  });

  test('a request object may have further fields, which are ignored; a response object has none', () => {
    expect(input(Joi.object({ a: Joi.string().default('x') }))).toEqual({
      type: 'object',
      properties: { a: { type: 'string', minLength: 1, default: 'x' } },
    });
    expect(output(Joi.object({ a: Joi.boolean() }))).toMatchObject({ additionalProperties: false });
  });

  test('an object with any members is described explicitly, because generators of clients would read it as an empty one', () => {
    const open = { type: 'object', additionalProperties: true };
    for (const convert of [input, output]) {
      expect(convert(Joi.object())).toEqual(open);
      expect(convert(Joi.object().unknown())).toEqual(open);
      expect(convert(Joi.object({ a: Joi.boolean() }).unknown())).toEqual({
        ...open,
        properties: { a: { type: 'boolean' } },
      });
    }
  });

  test('keys that the caller chooses are additional properties; forbidden ones are excluded by name', () => {
    const schema = Joi.object().pattern(/^\$/, Joi.forbidden()).pattern(Joi.string().max(9), Joi.number());
    expect(input(schema)).toEqual({
      type: 'object',
      additionalProperties: { type: 'number' },
      propertyNames: { allOf: [{ not: { pattern: '^\\$' } }, { type: 'string', minLength: 1, maxLength: 9 }] },
    });
  });

  test('a final forbidden pattern refuses exactly the keys that no other rule allows', () => {
    const schema = Joi.object().pattern(Joi.string().valid('a', 'b'), Joi.number()).pattern(/^/, Joi.forbidden());
    expect(input(schema)).toEqual({
      type: 'object',
      additionalProperties: { type: 'number' },
      propertyNames: { type: 'string', enum: ['a', 'b'] },
    });
  });

  test('values that count as absent are part of the accepted values', () => {
    const empty = { type: 'object', maxProperties: 0 };
    expect(input(alsoAccepting(Joi.number().allow(null), empty))).toEqual({
      anyOf: [{ type: 'number' }, empty, { type: 'null' }],
    });
  });

  test('keys that exclude each other become alternative objects, or are forbidden together', () => {
    const of = (name: string) => ({
      type: 'object',
      properties: { [name]: { type: 'boolean' } },
      required: [name],
    });
    const schema = Joi.object({ a: Joi.boolean(), b: Joi.boolean() });
    expect(input(schema.xor('a', 'b'))).toEqual({ oneOf: [of('a'), of('b')] });
    expect(input(schema.without('a', ['b']))).toMatchObject({ not: { anyOf: [{ required: ['a', 'b'] }] } });
    expect(input(schema.without('a', ['b']).without('b', ['c']))).toMatchObject({
      not: { anyOf: [{ required: ['a', 'b'] }, { required: ['b', 'c'] }] },
    });
  });

  test('values that are whole numbers are integers', () => {
    expect(input(Joi.number().valid(3, 6).allow(null))).toEqual({ type: ['integer', 'null'], enum: [3, 6, null] });
    expect(input(Joi.number().valid(0.5))).toEqual({ type: 'number', enum: [0.5] });
  });

  test('a rule without a conversion is an error, so that no rule is lost', () => {
    expect(() => input(Joi.string().hex())).toThrow('The rule string.hex is not converted');
    expect(() => input(Joi.object({ a: Joi.any(), b: Joi.any() }).and('a', 'b'))).toThrow('The rule and');
  });

  test('a default that is an object is omitted', () => {
    expect(input(Joi.object({}).default({ a: 1 }))).not.toHaveProperty('default');
    expect(input(Joi.object({}).allow(null).default({}))).not.toHaveProperty('default');
  });

  test('a hidden alternative is omitted', () => {
    expect(input(Joi.alternatives(Joi.string(), hidden(Joi.number())))).toEqual({ type: 'string', minLength: 1 });
  });

  test('keywords and the mark of an extension are added', () => {
    expect(input(extension(keywords(Joi.boolean(), { examples: [true] })))).toEqual({
      type: 'boolean',
      examples: [true],
      'x-allotrope-extension': true,
    });
  });
});

describe('names', () => {
  const size = () => named('Size', Joi.string().valid('S', 'L').description('How large it is.'));

  test('a named schema is stored once, with its own description, and referenced', () => {
    const schemas = createSchemas();
    const schema = Joi.object({
      a: size().required(),
      b: size().allow(null).default('S').description('Size of b.'),
    });
    expect(schemas.of(schema, 'input')).toEqual({
      type: 'object',
      required: ['a'],
      properties: {
        a: { $ref: '#/components/schemas/Size' },
        b: {
          anyOf: [{ $ref: '#/components/schemas/Size' }, { type: 'null' }],
          description: 'Size of b.',
          default: 'S',
        },
      },
    });
    expect(schemas.components()).toEqual({
      Size: { type: 'string', enum: ['S', 'L'], description: 'How large it is.' },
    });
  });

  test('two different schemas of one name are an error', () => {
    const schemas = createSchemas();
    schemas.of(size(), 'input');
    expect(() => schemas.of(named('Size', Joi.string()), 'input')).toThrow('Two different schemas are named Size');
  });
});

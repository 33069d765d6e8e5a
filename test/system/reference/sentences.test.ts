/** Tests that validation errors consist of our own sentences, without wording or internals of Joi. */
import { expect, test } from '@jest/globals';
import Joi from 'joi';

import type { HttpError } from '../../../api/http/errors.js';
import { SENTENCES, sentenceOf } from '../../../api/http/sentences.js';
import { withMessages } from '../../../api/schemas/messages.js';
import { validate } from '../../../api/http/validate.js';
import { operations } from '../../../api/routes.js';
import { everyRow } from '../../support/everyRow.js';

const RULES = { mayCall: () => true, redirectUriSchemes: [] };
interface Described {
  readonly type?: string;
}

/** Returns the types of all schemas within a description. */
function typesIn(described: unknown, types = new Set<string>()): Set<string> {
  if (typeof described !== 'object' || described === null) return types;
  const { type } = described as Described;
  if (typeof type === 'string' && type in Joi) types.add(type);
  for (const member of Object.values(described)) typesIn(member, types);
  return types;
}
const used = new Set<string>(['any']);
for (const { body, query } of operations)
  for (const schema of [body, query]) if (schema) typesIn(schema.describe(), used);

/** Codes that a type of Joi can raise. */
const codesOf = (type: string): string[] => {
  const schema = (Joi as unknown as Record<string, () => { _definition: { messages: object } }>)[type]!();
  return Object.keys(schema._definition.messages);
};

test('every code that our schemas can raise has a sentence', () => {
  expect([...used].toSorted()).toEqual(
    expect.arrayContaining(['alternatives', 'any', 'array', 'boolean', 'number', 'object', 'string']),
  );
  expect([...used].flatMap(codesOf).filter((code) => !(code in SENTENCES))).toEqual([]);
});

test('every sentence begins with a capital letter, and contains no label, template or reference', () =>
  everyRow(Object.keys(SENTENCES), String, (type) => {
    const context = {
      limit: Joi.ref('chunk_size'),
      valids: ['A', null],
      types: ['string'],
      peers: ['a', 'b'],
      name: 'a name',
      multiple: 2,
    };
    const sentence = sentenceOf({ type, message: 'of Joi', context, path: [] });
    expect(sentence).toMatch(/^[A-Z][^{}"@]*[^.{}"@]$/);
    expect(sentence).not.toMatch(/ref:|undefined|\[object|Joi|pattern/);
  }));

const messagesOf = (schema: Joi.Schema, value: unknown) => {
  try {
    validate(schema, value, 'body', RULES);
  } catch (error) {
    return ((error as HttpError).detail as readonly { msg: string }[]).map(({ msg }) => msg);
  }
  return [];
};

test('a limit that is another field is shown by its name', () => {
  const schema = Joi.object({ chunk_size: Joi.number(), chunk_overlap: Joi.number().less(Joi.ref('chunk_size')) });
  expect(messagesOf(schema, { chunk_size: 10, chunk_overlap: 10 })).toEqual(['Must be less than chunk_size']);
});

test('a sentence written for one field is kept', () => {
  const schema = Joi.object({
    a: withMessages(Joi.string().max(1), { 'string.max': 'Too long for a shelf mark' }),
    b: Joi.any().custom((_value, helpers) => helpers.message({ custom: 'The shelf does not exist' })),
    c: Joi.string().valid('X', 'Y'),
  });
  expect(messagesOf(schema, { a: 'xx', b: 1, c: 'Z' })).toEqual([
    ...['Too long for a shelf mark', 'The shelf does not exist', 'Must be one of X, Y'],
  ]);
});

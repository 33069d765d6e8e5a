import { expect, test } from '@jest/globals';
import Joi from 'joi';

import { undocumented } from '../../api/http/operation.js';
import { orNull } from '../../api/schemas/fields.js';
import type { Infer } from '../../api/schemas/inferred.js';

const KINDS = ['a', 'b'] as const;
const schema = Joi.object({
  needed: Joi.string().required(),
  defaulted: Joi.number().integer().min(1).default(100),
  optional: Joi.string().max(3),
  kind: orNull(Joi.string().valid(...KINDS)),
  kinds: Joi.array()
    .items(Joi.string().valid(...KINDS))
    .default([]),
  nested: Joi.object({ flag: orNull(Joi.boolean(), false) }).default(),
});

interface Expected {
  needed: string;
  defaulted: number;
  optional?: string;
  kind?: 'a' | 'b';
  kinds: ('a' | 'b')[];
  nested: { flag: boolean };
}

test('the type of a body follows from its schema, with optional fields and allowed values', () => {
  const { value } = schema.validate({ needed: 'x', kind: null, nested: {} });
  // The compiler checks that each type is assignable to the other: otherwise `npm run check:types` fails.
  const inferred: Infer<typeof schema> = value as Expected;
  const expected: Expected = inferred;
  expect(expected).toEqual({ needed: 'x', defaulted: 100, kinds: [], nested: { flag: false } });
  // @ts-expect-error: a field without a default may be absent
  const absent: string = inferred.optional;
  expect(absent).toBeUndefined();
});

test('the input of a handler has the types of its path parameters, its query and its body', () => {
  const declared = undocumented({
    method: 'post',
    path: '/things/{thing_id}',
    auth: 'key',
    summary: 'A test.',
    query: Joi.object({ limit: Joi.number().default(1) }),
    body: schema,
    answer: Joi.any(),
    async handle({ params, query, body }) {
      // @ts-expect-error: the path has no such parameter
      const unknown: string = params.other_id;
      const inferredValues: [string, number, 'a' | 'b' | undefined] = [params.thing_id, query.limit, body.kind];
      return [unknown, ...inferredValues];
    },
  });
  expect(declared.path).toBe('/things/{thing_id}');
});

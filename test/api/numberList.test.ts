import { expect, test } from '@jest/globals';
import Joi from 'joi';

import { numberList } from '../../api/schemas/numberList.js';

/** Validates a value. @returns the value, or each error with its path */
function validateWith(schema: Joi.Schema, v: unknown, abortEarly: boolean): unknown {
  const { value, error } = Joi.object({ v: schema }).validate({ v }, { abortEarly, convert: false }) as {
    value: unknown;
    error?: Joi.ValidationError;
  };
  return error ? error.details.map(({ message, path, type }) => ({ message, path, type })) : value;
}

test.each([
  [[1, -2.5, 0]],
  [[]],
  [[1, 'x', null, 2 ** 60, -(2 ** 60), true]],
  [[[1], {}]],
  [['1']],
  ['x'],
  [{ 0: 1 }],
  [null],
  [undefined],
  [[1, 2, 3, 4, 5, 6, 7]],
])('validates %j as Joi does', (value) => {
  const [joi, ours] = [Joi.array().items(Joi.number()), numberList()].map((schema) =>
    schema.min(1).max(6).allow(null).empty(null),
  ) as [Joi.Schema, Joi.Schema];
  for (const early of [true, false]) expect(validateWith(ours, value, early)).toEqual(validateWith(joi, value, early));
});

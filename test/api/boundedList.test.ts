import { expect, test } from '@jest/globals';
import Joi from 'joi';

import { boundedList } from '../../api/schemas/boundedList.js';

let checked = 0;
const entry = Joi.string().custom((value: string) => {
  checked += 1;
  return value;
});

test('checks the number of entries before the entries themselves', () => {
  const schema = boundedList(2).items(entry);
  const codes = (value: unknown) =>
    schema.validate(value, { abortEarly: false }).error?.details.map(({ type, context }) => [type, context?.['limit']]);
  expect(codes(['a', 'b', 1])).toEqual([['array.max', 2]]);
  expect(checked).toBe(0);
  expect(codes(['a', 'b'])).toBeUndefined();
  expect(checked).toBe(2);
  expect(codes(['a', 1])).toEqual([['string.base', undefined]]);
  expect(codes('a')).toEqual([['array.base', undefined]]);
});

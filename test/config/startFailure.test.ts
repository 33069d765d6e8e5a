import { expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { explanationOf } from '../../config/process/startFailure.js';

test('reports an invalid option in MONGODB_URI with a sentence, not a stack trace', async () => {
  const error: unknown = await mongoose
    .createConnection('mongodb://a.example,b.example/x?replicaset=rs&fast=true')
    .asPromise()
    .catch((reason: unknown) => reason);
  expect(explanationOf(error)).toBe(
    'MONGODB_URI is invalid: option fast is not supported. Correct it, then start again.',
  );
});

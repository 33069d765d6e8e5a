import { expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { explainFailedStart, explanationOf } from '../../config/process/startFailure.js';
import { StartError } from '../../contract/startError.js';
import { everyRow } from '../support/everyRow.js';

test('reports an invalid option in MONGODB_URI with a sentence, not a stack trace', async () => {
  const error: unknown = await mongoose
    .createConnection('mongodb://a.example,b.example/x?replicaset=rs&fast=true')
    .asPromise()
    .catch((reason: unknown) => reason);
  expect(explanationOf(error)).toBe(
    'MONGODB_URI is invalid: option fast is not supported. Correct it, then start again.',
  );
});

/** Errors with a known cause, and the sentence that an operator reads. */
const SENTENCES: [error: unknown, sentence: RegExp][] = [
  [new StartError('Set PORT.'), /^Set PORT\.$/],
  [Object.assign(new Error('write'), { code: 'ENOSPC' }), /^The disk is full \(write\)\. Free some space/],
  [Object.assign(new Error('a:1'), { name: 'MongooseServerSelectionError' }), /^MongoDB does not answer \(a:1\)/],
  [Object.assign(new Error('a:1'), { name: 'MongoServerSelectionError' }), /^MongoDB does not answer \(a:1\)/],
  [new TypeError('fetch failed'), /^Qdrant does not answer\./],
  [Object.assign(new Error('refused'), { name: 'TransportError' }), /^Temporal does not answer \(refused\)/],
  [new TypeError('a bug'), /^TypeError: a bug\n +at /],
  ['text', /^text$/],
];

test('explains each known cause of a failed start in a sentence; shows the stack trace only of unknown errors', () =>
  everyRow(
    SENTENCES,
    ([error]) => String(error),
    ([error, sentence]) => expect(explanationOf(error)).toMatch(sentence),
  ));

test('explains uncaught errors only until the process has started', () => {
  const before = process.listenerCount('uncaughtException');
  const hasStarted = explainFailedStart();
  expect(process.listenerCount('uncaughtException')).toBe(before + 1);
  hasStarted();
  expect(process.listenerCount('uncaughtException')).toBe(before);
});

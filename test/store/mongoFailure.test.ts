/** Failures of MongoDB: which are temporary, and when a call stops waiting. */
import { expect, test } from '@jest/globals';
import mongoose, { mongo } from 'mongoose';

import { mongoFailure } from '../../store/database/mongoFailure.js';
import { timeLimits, transaction } from '../../store/database/timeLimits.js';
import { insertOnce } from '../../store/database/insertOnce.js';
import { everyRow } from '../support/everyRow.js';

const serverError = (code: number, message = 'refused') => new mongo.MongoServerError({ message, code });
const labelled = (label: string): mongo.MongoError => {
  const error = new mongo.MongoError('refused');
  error.addErrorLabel(label);
  return error;
};
const named = (name: string): Error => Object.assign(new Error('m'), { name });
const socketError = (code: string, stack: string): Error => Object.assign(new Error('m'), { code, stack });
const OF_DRIVER = 'at Connection (/app/node_modules/mongodb/lib/cmap/connection.js:1:1)';
const PLAIN = new Error('a bug');

const ERRORS: readonly (readonly [string, unknown, string | null])[] = [
  ['a lost connection', new mongo.MongoNetworkError('reset'), 'unreachable'],
  ['a closed client', new mongo.MongoClientClosedError(), 'unreachable'],
  ['a closed topology', new mongo.MongoTopologyClosedError(), 'unreachable'],
  ['no server in time', new mongoose.Error.MongooseServerSelectionError('none'), 'unreachable'],
  ['a full pool', named('MongoWaitQueueTimeoutError'), 'unreachable'],
  ['a closed pool', named('MongoPoolClosedError'), 'unreachable'],
  ['a socket of the driver', socketError('ECONNRESET', OF_DRIVER), 'unreachable'],
  ['a write to a closed socket of the driver', socketError('EPIPE', OF_DRIVER), 'unreachable'],
  ['a socket of another client', socketError('ECONNRESET', 'at fetch (undici.js:1:1)'), null],
  ['another error in the driver', socketError('ENOENT', OF_DRIVER), null],
  ['a buffered call', new mongoose.Error('Operation `files.find()` buffering timed out after 5000ms'), 'unreachable'],
  ['no primary', serverError(10_107), 'failed'],
  ['a shutdown', serverError(11_600), 'failed'],
  ['a shutdown in progress', serverError(91), 'failed'],
  ['an exceeded time limit', serverError(50), 'failed'],
  ['a write conflict', serverError(112), 'failed'],
  ['a write that can be retried', labelled('RetryableWriteError'), 'failed'],
  ['a transaction that can be retried', labelled('TransientTransactionError'), 'failed'],
  ['a commit without an answer', labelled('UnknownTransactionCommitResult'), 'failed'],
  ['a full disk by its code', serverError(14_031), 'full'],
  ['a full disk by its message', serverError(1, 'No space left on device'), 'full'],
  ['a cause', new Error('the step failed', { cause: new mongo.MongoNetworkError('reset') }), 'unreachable'],
  ['a duplicate key', serverError(11_000), null],
  ['an invalid query', serverError(2), null],
  ['another label', labelled('SomeLabel'), null],
  ['a bug', PLAIN, null],
  ['a text', 'no error', null],
];

test('an error is a failure of MongoDB if the server is unreachable, full or temporarily refuses the call', () =>
  everyRow(
    ERRORS,
    ([what]) => what,
    ([, error, kind]) => {
      const failure = mongoFailure(error);
      expect(failure && [failure.store, failure.kind, failure.cause]).toEqual(kind && ['MongoDB', kind, error]);
    },
  ));

test('a call ends within its time limit; without a time limit, only the wait for a server is limited', () => {
  const { serverSelectionTimeoutMS: selection = 0, bufferTimeoutMS: buffer = 0, ...limits } = timeLimits(8_000);
  // Detection of a frozen server, and the retry on another one, share the limit.
  const { heartbeatFrequencyMS: heartbeat = 0, connectTimeoutMS: connect = 0, waitQueueTimeoutMS: queue = 0 } = limits;
  expect(heartbeat + connect + selection).toBeLessThanOrEqual(8_000);
  expect([queue <= 8_000, buffer <= 4_000, selection >= 2_000]).toEqual([true, true, true]);
  const { serverSelectionTimeoutMS: workers = 0, ...others } = timeLimits(null);
  expect([workers > 10_000, others]).toEqual([true, {}]);
});

/** A connection that runs the work of a transaction once, or repeats it as the driver does after errors. */
const fakeConnection = (run: (work: () => Promise<unknown>) => Promise<unknown>) =>
  ({ transaction: (work: (session: unknown) => Promise<unknown>) => run(() => work('session')) }) as never;

test('a transaction returns its result, or fails with the last error when its time limit has passed', async () => {
  const once = fakeConnection((work) => work());
  for (const limit of [null, 60_000]) {
    expect(await transaction(once, (session) => Promise.resolve(session as unknown), limit)).toBe('session');
    await expect(transaction(once, () => Promise.reject(PLAIN), limit)).rejects.toBe(PLAIN);
  }
  const stuck = fakeConnection(() => new Promise(() => undefined));
  const failure = await transaction(stuck, () => Promise.resolve(), 20).catch((error: unknown) => error);
  expect(failure).toMatchObject({ store: 'MongoDB', kind: 'unreachable' });
  // The driver repeats the work after a transient error. After the limit, the repetition fails without calling it.
  let calls = 0;
  let repeat: () => Promise<unknown> = () => Promise.resolve();
  const conflict = serverError(112, 'write conflict');
  const repeating = fakeConnection(async (work) => {
    await work().catch(() => undefined);
    await new Promise<void>((resolve) => {
      repeat = () => {
        resolve();
        return work();
      };
    });
  });
  const work = () => {
    calls += 1;
    return Promise.reject(conflict);
  };
  await expect(transaction(repeating, work, 20)).rejects.toThrow(/write conflict/);
  await expect(repeat()).rejects.toMatchObject({ store: 'MongoDB' });
  expect(calls).toBe(1);
});

const bulkError = (codes: readonly number[], writeConcernError?: object): mongo.MongoBulkWriteError => {
  const writeErrors = codes.map((code) => ({ code, errmsg: `code ${code}` }));
  const result = { writeErrors, getWriteConcernError: () => writeConcernError };
  const error = new mongo.MongoBulkWriteError({ message: 'm', code: codes[0], writeErrors } as never, result as never);
  return Object.assign(error, { code: 11_000 });
};
const insertInto = (failure: Error | null, rows = 2) => {
  const end = () => (failure ? Promise.reject(failure) : Promise.resolve());
  const model = { collection: { insertOne: end, insertMany: end } } as never;
  return insertOnce(
    model,
    Array.from({ length: rows }, () => ({})),
  );
};

test('a repeated insert ignores rows that exist, and no other failure of the same write', async () => {
  expect([await insertInto(null), await insertInto(PLAIN, 0)]).toEqual([true, true]);
  expect([await insertInto(serverError(11_000)), await insertInto(bulkError([11_000, 11_000]))]).toEqual([
    ...[false, false],
  ]);
  await expect(insertInto(PLAIN)).rejects.toBe(PLAIN);
  await expect(insertInto(serverError(112))).rejects.toMatchObject({ code: 112 });
  await expect(insertInto(bulkError([11_000, 14_031]))).rejects.toMatchObject({ code: 14_031, message: 'code 14031' });
  await expect(insertInto(bulkError([11_000], { code: 64, errmsg: 'not replicated' }))).rejects.toMatchObject({
    code: 64,
  });
});

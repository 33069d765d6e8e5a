/**
 * Errors of file storage that mean that the store failed, so that a retry can help; and how long calls of MongoDB wait.
 * mongoFailure.test.ts has the errors of MongoDB.
 */
import { expect, test } from '@jest/globals';
import { mongo } from 'mongoose';

import { blobFailure, blobsWithStoreFailures } from '../../store/contents/blobFailures.js';
import { timeLimits, transaction } from '../../store/database/timeLimits.js';
import { everyRow } from '../support/everyRow.js';

const withCode = (code: string | number, message = 'x'): Error => Object.assign(new Error(message), { code });
const ofBucket = (httpStatusCode?: number, name = 'Error'): Error =>
  Object.assign(new Error('x'), { name, $metadata: { httpStatusCode } });

const BLOB_ERRORS: readonly (readonly [what: string, error: unknown, kind: string | null])[] = [
  ['a refused connection', withCode('ECONNREFUSED'), 'unreachable'],
  ['a stale handle of a network folder', withCode('ESTALE'), 'unreachable'],
  ['a timeout of the bucket', Object.assign(new Error('x'), { name: 'TimeoutError' }), 'unreachable'],
  ['a full disk', withCode('ENOSPC', 'ENOSPC: no space left on device'), 'full'],
  ['an exceeded quota', withCode('EDQUOT', 'EDQUOT: disk quota exceeded'), 'full'],
  ['a full bucket', ofBucket(507), 'full'],
  ['a folder without permission', withCode('EACCES'), 'failed'],
  ['an input or output error of the disk', withCode('EIO'), 'failed'],
  ['an error of the bucket', ofBucket(503), 'failed'],
  ['an unreadable answer of the bucket', ofBucket(), 'failed'],
  ['a defect', new TypeError('x'), null],
  ['an error of Node', withCode('ERR_INVALID_ARG_TYPE'), null],
  ['a text', 'x', null],
];
test('maps errors of file storage to kinds of store failures, and returns other errors unchanged', () =>
  everyRow(
    BLOB_ERRORS,
    ([what]) => what,
    ([, error, kind]) => {
      const failure = blobFailure(error);
      if (kind === null) expect(failure).toBe(error);
      else expect(failure).toMatchObject({ store: 'File storage', kind, cause: error });
      expect(blobFailure(failure)).toBe(failure);
    },
  ));

test('a failed write is a failure of the store only if the store failed, not the source of the content', async () => {
  const broken = withCode('ECONNRESET', 'the sender has gone');
  const consume = async (_key: string, received: AsyncIterable<Uint8Array>) => {
    for await (const _part of received);
    throw withCode('ENOSPC', 'ENOSPC: no space left on device');
  };
  const blobs = blobsWithStoreFailures({ putStream: consume } as never);
  async function* parts(fault?: Error): AsyncIterable<Uint8Array> {
    yield await Promise.resolve(Buffer.alloc(1));
    if (fault) throw fault;
  }
  await expect(blobs.putStream('k', parts(broken))).rejects.toBe(broken);
  await expect(blobs.putStream('k', parts())).rejects.toMatchObject({ store: 'File storage', kind: 'full' });
});

/** A connection whose transactions run the work until it succeeds, as the driver does. @param attempts maximum */
const connectionOf = (attempts: number) =>
  ({
    async transaction(work: (session: unknown) => Promise<unknown>) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await work({});
        } catch (error) {
          if (attempt === attempts || (error as Error).name === 'StoreFailure') throw error;
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
    },
  }) as never;

test('a transaction with a time limit ends when MongoDB does not answer in time, and is not repeated afterwards', async () => {
  const outage = new mongo.MongoNetworkError('connection refused');
  let attempts = 0;
  const failing = transaction(
    connectionOf(Infinity),
    async () => {
      attempts += 1;
      throw outage;
    },
    20,
  );
  await expect(failing).rejects.toMatchObject({ store: 'MongoDB', kind: 'unreachable', cause: outage });
  await new Promise((resolve) => setImmediate(resolve));
  const attemptsAtEnd = attempts;
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(attempts).toBe(attemptsAtEnd);
});

test('the time limits of the driver leave time for a second attempt', () => {
  expect(timeLimits(null)).toEqual({ serverSelectionTimeoutMS: 15_000 });
  expect(timeLimits(4_000)).toEqual({
    ...{ heartbeatFrequencyMS: 1_000, connectTimeoutMS: 1_000, serverSelectionTimeoutMS: 2_000 },
    ...{ waitQueueTimeoutMS: 4_000, bufferTimeoutMS: 2_000 },
  });
});

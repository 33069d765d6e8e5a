import mongoose, { mongo } from 'mongoose';

import { causesOf, isDiskFullError, StoreFailure } from '../../contract/storeFailures.js';

/**
 * Server error codes of transient states: the node is not primary, is shutting down, lost its connection to another
 * node, exceeded a time limit, or found a write conflict.
 * https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
 */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([
  6, 7, 50, 64, 89, 91, 112, 189, 202, 216, 262, 317, 384, 9001, 10058, 10107, 11600, 11602, 13435, 13436,
]);
const OUT_OF_DISK_SPACE = 14031;

/** Labels that the server or the driver puts on errors that can be retried. */
const RETRYABLE_LABELS = ['RetryableWriteError', 'TransientTransactionError', 'UnknownTransactionCommitResult'];

/** Driver errors without a class of their own in the public interface. */
const UNREACHABLE_NAMES: ReadonlySet<string> = new Set(['MongoPoolClosedError', 'MongoWaitQueueTimeoutError']);

/**
 * Returns whether an error comes from a socket of the driver. The driver rethrows write errors unwrapped if the server
 * has just closed the connection, so only the stack shows the origin.
 */
const isSocketError = (error: object): boolean =>
  error instanceof Error &&
  ['EPIPE', 'ECONNRESET'].includes(String((error as NodeJS.ErrnoException).code)) &&
  /[\\/]mongodb[\\/]lib[\\/]/.test(error.stack ?? '');

const isUnreachable = (error: object): boolean =>
  error instanceof mongo.MongoServerSelectionError ||
  error instanceof mongo.MongoNetworkError ||
  error instanceof mongo.MongoNotConnectedError ||
  error instanceof mongo.MongoTopologyClosedError ||
  error instanceof mongo.MongoServerClosedError ||
  error instanceof mongo.MongoClientClosedError ||
  error instanceof mongoose.Error.MongooseServerSelectionError ||
  UNREACHABLE_NAMES.has((error as Error).name) ||
  isSocketError(error) ||
  // Mongoose has no class for this error: an operation waited for the connection longer than bufferTimeoutMS.
  (error instanceof mongoose.Error && /buffering timed out/.test(error.message));

const isTransient = (error: object): boolean =>
  error instanceof mongo.MongoError &&
  (TRANSIENT_CODES.has(error.code) || RETRYABLE_LABELS.some((label) => error.hasErrorLabel(label)));

/** Returns the MongoDB failure that caused an error; null for any other error. */
export function mongoFailure(error: unknown): StoreFailure | null {
  for (const cause of causesOf(error)) {
    if (cause instanceof mongo.MongoError && (cause.code === OUT_OF_DISK_SPACE || isDiskFullError(cause)))
      return new StoreFailure('MongoDB', 'full', error);
    if (isUnreachable(cause)) return new StoreFailure('MongoDB', 'unreachable', error);
    if (isTransient(cause)) return new StoreFailure('MongoDB', 'failed', error);
  }
  return null;
}

import { isGrpcServiceError } from '@temporalio/client';

import { causesOf, isDiskFullError, StoreFailure } from '../contract/storeFailures.js';

/** gRPC status codes of a server that does not answer: https://grpc.io/docs/guides/status-codes/ */
const UNREACHABLE_CODES: ReadonlySet<number> = new Set([1, 4, 8, 14]);
/** gRPC status codes of a server error: UNKNOWN, ABORTED, INTERNAL, DATA_LOSS. */
const FAILED_CODES: ReadonlySet<number> = new Set([2, 10, 13, 15]);

/**
 * Converts a gRPC error of the Temporal client that means an outage, a full disk or a server error to a StoreFailure.
 * Returns any other error unchanged.
 */
export function temporalFailure(error: unknown): unknown {
  for (const cause of causesOf(error)) {
    if (!isGrpcServiceError(cause)) continue;
    if (isDiskFullError(cause)) return new StoreFailure('Temporal', 'full', error);
    if (UNREACHABLE_CODES.has(cause.code)) return new StoreFailure('Temporal', 'unreachable', error);
    if (FAILED_CODES.has(cause.code)) return new StoreFailure('Temporal', 'failed', error);
  }
  return error;
}

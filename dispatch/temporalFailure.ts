import { isGrpcServiceError } from '@temporalio/client';

import { causesOf, saysDiskFull, StoreFailure } from '../contract/storeFailures.js';

/** gRPC status codes of a server that does not answer: https://grpc.io/docs/guides/status-codes/ */
const UNREACHABLE_CODES: ReadonlySet<number> = new Set([1, 4, 8, 14]);
/** …and of one that answers with a fault of its own: UNKNOWN, ABORTED, INTERNAL, DATA_LOSS. */
const FAILED_CODES: ReadonlySet<number> = new Set([2, 10, 13, 15]);

/** Returns the failure of Temporal that an error of its client shows; any other error unchanged. */
export function temporalFailure(error: unknown): unknown {
  for (const one of causesOf(error)) {
    if (!isGrpcServiceError(one)) continue;
    if (saysDiskFull(one)) return new StoreFailure('Temporal', 'full', error);
    if (UNREACHABLE_CODES.has(one.code)) return new StoreFailure('Temporal', 'unreachable', error);
    if (FAILED_CODES.has(one.code)) return new StoreFailure('Temporal', 'failed', error);
  }
  return error;
}

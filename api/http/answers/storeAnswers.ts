import { StoreFailure, type StoreFailureKind } from '../../../contract/storeFailures.js';
import { mongoFailure } from '../../../store/database/mongoFailure.js';
import { HttpError } from '../errors.js';

/**
 * Status, Retry-After in seconds, and message of each failure. Retry-After is longer for a full disk, because freeing
 * space takes longer than a restart.
 */
const ANSWERS: Readonly<Record<StoreFailureKind, { status: number; retryAfterS: number; problem: string }>> = {
  unreachable: { status: 503, retryAfterS: 5, problem: 'does not answer' },
  failed: { status: 503, retryAfterS: 5, problem: 'reports an internal error' },
  full: { status: 507, retryAfterS: 30, problem: 'has no disk space left; the operator has to free some' },
};

/** Returns the store failure that caused an error; null if no store did. */
export const storeFailureOf = (error: unknown): StoreFailure | null =>
  error instanceof StoreFailure ? error : mongoFailure(error);

/** Returns the response while a store fails: its name and when to retry, without internals. */
export function storeAnswer({ store, kind }: StoreFailure): HttpError {
  const { status, retryAfterS, problem } = ANSWERS[kind];
  return new HttpError(status, `${store} ${problem}. Send the request again after Retry-After seconds.`, retryAfterS);
}

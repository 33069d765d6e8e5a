import { isDiskFullError, StoreFailure } from '../../contract/storeFailures.js';
import { statusOf } from './collection.js';

/** Returns the reason in the body of Qdrant's error, as its REST client stores it. */
export function reasonOf(error: unknown): string {
  const { message, data } = error as { message?: unknown; data?: { status?: { error?: unknown } } };
  const reason = data?.status?.error;
  return typeof reason === 'string' ? reason : String(message);
}

/**
 * Returns the StoreFailure for an error of a call to Qdrant. Errors of the request itself (4xx) are returned unchanged:
 * they mean a defect, or an answer such as "no such collection".
 */
export function qdrantFailure(error: unknown): unknown {
  if (error instanceof StoreFailure) return error;
  const status = statusOf(error);
  if (status === null) return new StoreFailure('Qdrant', isDiskFullError(error) ? 'full' : 'unreachable', error);
  if (status < 500 && status !== 429) return error;
  const cause = Object.assign(new Error(`HTTP ${status}: ${reasonOf(error)}`, { cause: error }), { status });
  return new StoreFailure('Qdrant', isDiskFullError(cause) ? 'full' : 'failed', cause);
}

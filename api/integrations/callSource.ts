import { Fault } from '../../contract/failures.js';
import { HttpError } from '../http/errors.js';

/** Time limit for a source while a caller waits. */
const TIMEOUT_MS = 60_000;

/**
 * Calls a source while a caller waits. @throws HttpError 503 if a retry may help, else 400; never 401, since clients
 * treat it as the end of their own token
 */
export async function callSource<T>(name: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new HttpError(503, `${name} took too long to answer. Try again later.`);
  try {
    return await call(AbortSignal.timeout(TIMEOUT_MS));
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') throw late;
    throw error instanceof Fault ? faultAnswer(error) : error;
  }
}

/** Returns the response for a request that the source rejected. */
export function faultAnswer({ retryAfterMs, retryable, message }: Fault): HttpError {
  return new HttpError(retryable ? 503 : 400, message, retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1000));
}

import { Fault } from '../../contract/failures.js';
import { HttpError } from '../http/errors.js';

/** How long a caller waits for a source. */
const TIMEOUT_MS = 60_000;

/**
 * A call of a source whose answer a caller waits for. @throws HttpError 503 when trying again may help, else 400; never
 * 401, which clients take for the end of their own token
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

/** What a caller is told whom a source refuses. */
export function faultAnswer({ retryAfterMs, retryable, message }: Fault): HttpError {
  return new HttpError(retryable ? 503 : 400, message, retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1000));
}

import { Fault } from '../../contract/failures.js';
import { HttpError } from '../http/errors.js';

/** Time limit in milliseconds for calls to a source during a request. */
const TIMEOUT_MS = 60_000;

/** Text in the descriptions of the operations that only read from a source during the request. */
export const LIVE =
  'The service queries the source during the request, and stores nothing. The response is 503 if the source limits requests or does not answer within 60 seconds, 400 if it rejects the request, and 409 if the data source is revoked.';

/**
 * Calls a source during a request.
 * @throws HttpError 503 if a retry may help, else 400; never 401, since clients treat 401 as the expiry of their token
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

/** Returns the response for a failed call to a source: 503 if a retry may help, else 400. */
export function faultAnswer({ retryAfterMs, retryable, message }: Fault): HttpError {
  return new HttpError(retryable ? 503 : 400, message, retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1000));
}

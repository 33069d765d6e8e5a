import { Fault } from '../contract/failures.js';
import { HttpError } from './http/errors.js';

/**
 * Calls an external service during a request, and converts its Faults.
 * @throws HttpError 503 if a retry may help, 400 if a setting is missing, else 502
 */
export async function upstream<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const seconds = error.retryAfterMs === null ? null : Math.ceil(error.retryAfterMs / 1000);
    if (error.kind === 'not_configured') throw new HttpError(400, error.message);
    throw new HttpError(error.retryable ? 503 : 502, error.message, seconds);
  }
}

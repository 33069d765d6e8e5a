import { Fault } from '../contract/failures.js';
import { HttpError } from './http/errors.js';

/**
 * Something that a caller waits for and others do. @throws HttpError for their Faults: 503 when trying again may help,
 * 400 where a setting is missing, else 502; each says what to do
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

import { Fault } from '../../contract/failures.js';
import type { CallOptions, SourceClient } from '../accountClient.js';
import { asText } from '../json.js';

/**
 * Whether an error may mean an expired page token or cursor. Some of Google's APIs report it in general terms only.
 */
export const isStale = (error: unknown): boolean =>
  error instanceof Fault && (error.kind === 'stale_cursor' || error.kind === 'bad_response');

/** A page of a Google listing. */
export interface GooglePage {
  readonly body: Readonly<Record<string, unknown>>;
  /** Page token of the next page; null after the last one. */
  readonly next: string | null;
}

/**
 * Returns the next page. Page tokens expire after some hours: then the listing starts again,
 * and repeated items do not matter. @param token null for the first page
 */
export async function fetchPage(
  client: SourceClient,
  path: readonly string[],
  query: Readonly<Record<string, string>>,
  token: string | null,
  options?: CallOptions,
): Promise<GooglePage> {
  const fetchFrom = async (at: string | null): Promise<GooglePage> => {
    const body = await client.get(path, at === null ? query : { ...query, pageToken: at }, options);
    return { body, next: asText(body['nextPageToken']) };
  };
  try {
    return await fetchFrom(token);
  } catch (error) {
    if (token === null || !isStale(error)) throw error;
    return fetchFrom(null);
  }
}

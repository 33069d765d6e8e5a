import { Fault } from '../../contract/failures.js';
import type { CallOptions, SourceClient } from '../accountClient.js';
import { type Answer, asAnswer, asText } from '../json.js';

/**
 * Whether an error may mean an expired page token or cursor. Some of Google's APIs report it in general terms only.
 */
export const isStale = (error: unknown): boolean =>
  error instanceof Fault && (error.kind === 'stale_cursor' || error.kind === 'bad_response');

/** A page of a Google listing. @template T Google's type of the answer */
interface GooglePage<T> {
  readonly body: Answer<T>;
  /** Page token of the next page; null after the last one. */
  readonly next: string | null;
}

/**
 * Returns the next page. Page tokens expire after some hours: then the listing starts again,
 * and repeated items do not matter. @param token null for the first page
 */
export async function fetchPage<T extends { nextPageToken?: string }>(
  client: SourceClient,
  path: readonly string[],
  query: Readonly<Record<string, string>>,
  token: string | null,
  options?: CallOptions,
): Promise<GooglePage<T>> {
  const fetchFrom = async (at: string | null): Promise<GooglePage<T>> => {
    const body = await client.get(path, at === null ? query : { ...query, pageToken: at }, options);
    const { nextPageToken } = asAnswer<{ nextPageToken?: string }>(body);
    return { body: asAnswer<T>(body), next: asText(nextPageToken) };
  };
  try {
    return await fetchFrom(token);
  } catch (error) {
    if (token === null || !isStale(error)) throw error;
    return fetchFrom(null);
  }
}

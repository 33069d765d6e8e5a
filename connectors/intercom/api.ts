import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../accountClient.js';
import { type Answer, asAnswer, asAnswers, asText } from '../json.js';
import type {
  IntercomCollection,
  IntercomConversation,
  IntercomList,
  IntercomNextPage,
  IntercomPages,
  IntercomTicket,
} from './fields.js';

export const NAME = 'Intercom';
/** Maximum page size of searches and numbered lists. */
const PER_SEARCH = 150;
const PER_PAGE = '150';
const COLLECTIONS = ['help_center', 'collections'];

/** A page of a list; `next` is null after the last one. */
interface NumberedPage<T> {
  readonly values: readonly Answer<T>[];
  readonly next: number | null;
  readonly total: number | null;
}

const countOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null);

/** Returns a page of a list with numbered pages. */
export async function fetchNumberedPage<T>(
  client: SourceClient,
  path: readonly string[],
  page: number,
): Promise<NumberedPage<T>> {
  const answer = asAnswer<IntercomList>(await client.get(path, { page: String(page), per_page: PER_PAGE }));
  if (!Array.isArray(answer.data))
    throw new Fault('server_error', `${NAME} gave an answer without a list. The request is retried automatically.`);
  const last = countOf(asAnswer<IntercomPages>(answer.pages).total_pages) ?? 1;
  return {
    values: asAnswers<T>(answer.data),
    next: page < last ? page + 1 : null,
    total: countOf(answer.total_count),
  };
}

interface Dated {
  readonly updated_at?: unknown;
}
/** Returns the time of change of the first entry, in seconds since 1970; null without one. */
export const newestOf = (values: readonly Dated[]): number | null => countOf(values[0]?.updated_at);

/**
 * Returns the number of the page that follows in a list, including the repetition at its end. Intercom sorts articles
 * and collections by their time of change, latest first: an entry that is changed while later pages are read moves from
 * a page that is still unread to the first one. After the last page, the list is therefore read from the beginning
 * again, until a page contains an entry that is older than `newest`.
 * https://developers.intercom.com/docs/references/rest-api/api.intercom.io/Articles/listArticles/
 * @param newest time of change of the first entry when the listing began; null: unknown, so the list is not repeated
 * @param isRepeated whether the page belongs to the repetition
 */
export function pageAfter(
  { values, next }: { readonly values: readonly Dated[]; readonly next: number | null },
  page: number,
  { newest, isRepeated }: { readonly newest: number | null; readonly isRepeated: boolean },
): { readonly page: number; readonly isRepeated: boolean } | null {
  if (isRepeated) {
    const isOld = newest === null || values.some(({ updated_at: at }) => (countOf(at) ?? 0) < newest);
    return next === null || isOld ? null : { page: next, isRepeated };
  }
  if (next !== null) return { page: next, isRepeated };
  return page === 1 || newest === null ? null : { page: 1, isRepeated: true };
}

/**
 * Returns all collections. If there are several pages, the first ones are read again at the end (see pageAfter), so a
 * collection can be in the result twice. Of its two entries, the later one is current.
 * @throws Fault for more than `maxEntries` entries
 */
export async function fetchCollections(
  client: SourceClient,
  maxEntries: number,
): Promise<readonly Answer<IntercomCollection>[]> {
  const all: Answer<IntercomCollection>[] = [];
  let newest: number | null = null;
  for (let at: ReturnType<typeof pageAfter> = { page: 1, isRepeated: false }; at !== null;) {
    const taken: NumberedPage<IntercomCollection> = await fetchNumberedPage(client, COLLECTIONS, at.page);
    if (all.length === 0) newest = newestOf(taken.values);
    all.push(...taken.values);
    at = pageAfter(taken, at.page, { newest, isRepeated: at.isRepeated });
    if (all.length > maxEntries)
      throw new Fault('too_large', `${NAME} lists more than ${maxEntries} entries, the maximum for this kind of list.`);
  }
  return all;
}

export type Searched = 'conversations' | 'tickets';
/** A condition of a search. Times are in seconds since 1970; Intercom may compare by day only. */
export interface Condition {
  readonly field: 'created_at' | 'updated_at';
  readonly operator: '>' | '<';
  readonly value: number;
}
const EVER: Condition = { field: 'created_at', operator: '>', value: 0 };

/**
 * Returns a page of search results. @param name what is searched: first path segment and field of the answer
 * @param query condition; default: matches everything
 */
export async function fetchSearchPage(
  client: SourceClient,
  name: Searched,
  after: string | null,
  query: Condition = EVER,
): Promise<{
  readonly values: readonly Answer<IntercomConversation | IntercomTicket>[];
  readonly next: string | null;
  readonly total: number | null;
}> {
  const pagination = { per_page: PER_SEARCH, ...(after === null ? {} : { starting_after: after }) };
  const answer = asAnswer<IntercomList>(await client.post([name, 'search'], { query, pagination }));
  // Null, an object or a URL, depending on API version and list.
  const { next } = asAnswer<IntercomPages>(answer.pages);
  const address = asText(next);
  const fromUrl =
    address !== null && URL.canParse(address) ? new URL(address).searchParams.get('starting_after') : null;
  const cursor = asText(asAnswer<IntercomNextPage>(next).starting_after) ?? fromUrl;
  if (!Array.isArray(answer[name]) || (cursor !== null && cursor === after))
    throw new Fault('server_error', `${NAME} returned an invalid list, or the same page again. Try again.`);
  return {
    values: asAnswers<IntercomConversation | IntercomTicket>(answer[name]),
    next: cursor,
    total: countOf(answer.total_count),
  };
}

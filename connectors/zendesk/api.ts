import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../accountClient.js';
import { type Answer, asAnswer, asAnswers, asObject, asText } from '../json.js';
import type { ZendeskList, ZendeskMeta } from './fields.js';
import { requireId } from '../faults.js';

export const NAME = 'Zendesk';
const PER_PAGE = '100';

/** A page of a list. */
export interface ZendeskPage<T> {
  readonly values: readonly Answer<T>[];
  /** The answer, for included objects such as users. */
  readonly answer: Answer<ZendeskList>;
  /** Null after the last page. */
  readonly next: string | null;
}

/** Our cursor in a list with numbered pages: `page:2`, or `page:2:30` with a page size. Zendesk's own are base64. */
const NUMBERED = /^page:(\d{1,6})(?::(\d{1,3}))?$/;

/**
 * Returns our cursor of the page after a numbered one, from its link; null after the last one. Zendesk introduced
 * cursors list by list, and a list without them ignores page[size] and answers with numbered pages of its own size:
 * https://developer.zendesk.com/api-reference/introduction/pagination/
 * Numbered pages of the help center have 30 entries, so requests for the following pages must keep that size.
 * https://developer.zendesk.com/documentation/api-basics/pagination/paginating-through-lists
 */
function numberedNext({ next_page: link }: Answer<ZendeskList>): string | null {
  const address = asText(link);
  const search = address !== null && URL.canParse(address) ? new URL(address).searchParams : null;
  const size = search?.get('per_page') ?? null;
  const cursor = `page:${search?.get('page') ?? ''}${size === null ? '' : `:${size}`}`;
  return NUMBERED.test(cursor) ? cursor : null;
}

/** Returns the parameters that choose a page. */
function pageAt(cursor: string | null): Readonly<Record<string, string>> {
  if (cursor === null) return { 'page[size]': PER_PAGE };
  const [, page, size] = NUMBERED.exec(cursor) ?? [];
  if (page !== undefined) return { page, ...(size === undefined ? {} : { per_page: size }) };
  return { 'page[size]': PER_PAGE, 'page[after]': cursor };
}

/**
 * Returns a page of a list.
 * @param path its last segment is also the name of the list in the answer
 * @param cursor of a previous page
 */
export async function fetchPage<T>(
  client: SourceClient,
  path: readonly string[],
  cursor: string | null,
  query: Readonly<Record<string, string>> = {},
): Promise<ZendeskPage<T>> {
  const name = path.at(-1) ?? '';
  const listPath = [...path.slice(0, -1), `${name}.json`];
  const answer = await client.get(listPath, { ...query, ...pageAt(cursor) });
  const list = asAnswer<ZendeskList>(answer);
  const meta = asAnswer<ZendeskMeta>(list.meta);
  const byCursor = meta.has_more === true ? asText(meta.after_cursor) : null;
  const next = list.meta === undefined ? numberedNext(list) : byCursor;
  if (!Array.isArray(answer[name]) || (meta.has_more === true && next === null) || (next !== null && next === cursor))
    throw new Fault('server_error', `${NAME} returned an invalid list, or one without its next page. Try again.`);
  return { values: asAnswers<T>(answer[name]), answer: list, next };
}

/**
 * Returns all pages of a short list. @throws Fault for more than `maxEntries` entries: an incomplete list would cause
 * deletions
 */
export async function fetchAll<T>(
  client: SourceClient,
  path: readonly string[],
  maxEntries: number,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly ZendeskPage<T>[]> {
  const pages: ZendeskPage<T>[] = [];
  let number = 0;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: ZendeskPage<T> = await fetchPage(client, path, cursor ?? null, query);
    pages.push(page);
    number += page.values.length;
    if (number > maxEntries)
      throw new Fault('too_large', `${NAME} lists more than ${maxEntries} entries, the maximum for this kind of list.`);
    cursor = page.next;
  }
  return pages;
}

/** Returns one object by its path, which ends with its id. */
export async function fetchOne<T>(
  client: SourceClient,
  path: readonly string[],
  name: string,
  query: Readonly<Record<string, string>> = {},
): Promise<{ readonly value: Answer<T>; readonly answer: Answer<ZendeskList> }> {
  const answer = await client.get([...path.slice(0, -1), `${path.at(-1)}.json`], query);
  const value = requireId(NAME, asObject(answer[name]), `the ${name}`);
  return { value: asAnswer<T>(value), answer: asAnswer<ZendeskList>(answer) };
}

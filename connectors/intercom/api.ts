import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../accountClient.js';
import { asObject, asObjects, asText, type Json } from '../json.js';

export const NAME = 'Intercom';
/** Of searches and of numbered lists at most. */
const PER_SEARCH = 150;
const PER_PAGE = '150';

/** A page of a list; `next` is null after the last one. */
interface Numbered {
  readonly values: readonly Json[];
  readonly next: number | null;
  readonly total: number | null;
}

const countOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null);

/** A page of a list whose pages are numbered. */
export async function takeNumbered(client: SourceClient, path: readonly string[], page: number): Promise<Numbered> {
  const answer = await client.get(path, { page: String(page), per_page: PER_PAGE });
  if (!Array.isArray(answer['data']))
    throw new Fault('server_error', `${NAME} gave an answer without a list. It is tried again by itself.`);
  const last = countOf(asObject(answer['pages'])['total_pages']) ?? 1;
  return {
    values: asObjects(answer['data']),
    next: page < last ? page + 1 : null,
    total: countOf(answer['total_count']),
  };
}

/** All pages of a list that is known to be short. @throws Fault for one of more than `most` */
export async function takeAll(client: SourceClient, path: readonly string[], most: number): Promise<readonly Json[]> {
  const all: Json[] = [];
  for (let page: number | null = 1; page !== null;) {
    const taken: Numbered = await takeNumbered(client, path, page);
    all.push(...taken.values);
    page = taken.next;
    if (all.length > most)
      throw new Fault('too_large', `${NAME} lists more than the ${most} entries that are read of such a list.`);
  }
  return all;
}

export type Searched = 'conversations' | 'tickets';
/** A condition of a search: moments are in seconds since 1970, and Intercom may take the day of one for it. */
export interface Condition {
  readonly field: 'created_at' | 'updated_at';
  readonly operator: '>' | '<';
  readonly value: number;
}
const EVER: Condition = { field: 'created_at', operator: '>', value: 0 };

/** A page of what a search finds. @param name what the list is called, and its path begins with @param query unset: all there is */
export async function searchAll(
  client: SourceClient,
  name: Searched,
  after: string | null,
  query: Condition = EVER,
): Promise<{ readonly values: readonly Json[]; readonly next: string | null; readonly total: number | null }> {
  const pagination = { per_page: PER_SEARCH, ...(after === null ? {} : { starting_after: after }) };
  const answer = await client.post([name, 'search'], { query, pagination });
  // Null, an object, or an address, by version and by list.
  const { next } = asObject(answer['pages']);
  const address = asText(next);
  const told = address !== null && URL.canParse(address) ? new URL(address).searchParams.get('starting_after') : null;
  const cursor = asText(asObject(next)['starting_after']) ?? told;
  if (!Array.isArray(answer[name]) || (cursor !== null && cursor === after))
    throw new Fault('server_error', `${NAME} returned an invalid list, or one without its next page. Try again.`);
  return { values: asObjects(answer[name]), next: cursor, total: countOf(answer['total_count']) };
}

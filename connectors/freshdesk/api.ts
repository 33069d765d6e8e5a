import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../accountClient.js';
import { asObjects, type Json } from '../json.js';

export const NAME = 'Freshdesk';
const PER_PAGE = '100';

/** A page of a list. */
export interface FreshdeskPage {
  readonly values: readonly Json[];
  /** Whether there is a next page, according to the Link header. Its URL is not used. */
  readonly hasNext: boolean;
}

/** Returns a page of a list by its number, and whether another page follows. */
export async function fetchPage(
  client: SourceClient,
  path: readonly string[],
  page: number,
  query: Readonly<Record<string, string>> = {},
): Promise<FreshdeskPage> {
  const pageQuery = { ...query, per_page: PER_PAGE, page: String(page) };
  const { values, headers } = await client.list(path, pageQuery);
  return { values: asObjects(values), hasNext: /;\s*rel="?next"?/.test(headers['link'] ?? '') };
}

/**
 * Returns all pages of a short list. @throws Fault if further pages follow after more than `maxEntries` entries: an
 * incomplete list would cause deletions
 */
export async function fetchAll(
  client: SourceClient,
  path: readonly string[],
  maxEntries: number,
): Promise<readonly Json[]> {
  const all: Json[] = [];
  for (let page = 1; ; page += 1) {
    const { values, hasNext } = await fetchPage(client, path, page);
    all.push(...values);
    if (!hasNext || values.length === 0) return all;
    if (all.length > maxEntries)
      throw new Fault('too_large', `${NAME} lists more than ${maxEntries} entries, the maximum for this kind of list.`);
  }
}

/**
 * Reads the rows of a data source. A query ends after 10,000 rows: `has_more` is then false, and at least one of its
 * result pages has the `request_status` incomplete. Further rows need another query, which starts at the creation time
 * of the last row. https://developers.notion.com/guides/data-apis/query-large-data-sources
 */
import type { PageObjectResponse } from '@notionhq/client';

import { boolean, type Checked, nullable, shapeOf, string } from '../cursors.js';
import type { GrantClient } from '../accountClient.js';
import { asAnswer, asText } from '../json.js';
import { type Page, postPage } from './api.js';

/** One query of a data source. */
export const rowsQuery = shapeOf({
  /** Earliest creation time; null for the first query. */
  since: nullable(string),
  /** Creation time of the last row so far. */
  last: nullable(string),
  /** Whether Notion reported that the query does not return all rows. */
  isPartial: boolean,
});
type RowsQuery = Checked<typeof rowsQuery>;
const FIRST: RowsQuery = { since: null, last: null, isPartial: false };

interface RowsPage extends Omit<Page, 'next'> {
  /** The next result page, of this query or of a further one; null after the last one. */
  readonly next: { readonly at: string | null; readonly rows: RowsQuery } | null;
  /**
   * Whether rows remain that no query returns. Creation times have the precision of a minute, so a further query would
   * return the same rows if more than 10,000 were created in one minute.
   */
  readonly isCut: boolean;
}

/**
 * Returns one result page of rows. Rows that were created in the same minute as the last row of a query are returned
 * by the next query again.
 */
export async function fetchRows(
  client: GrantClient,
  id: string,
  at: string | null,
  given: RowsQuery = FIRST,
): Promise<RowsPage> {
  const { since } = given;
  const body = {
    sorts: [{ timestamp: 'created_time', direction: 'ascending' }],
    ...(since === null ? {} : { filter: { timestamp: 'created_time', created_time: { on_or_after: since } } }),
  };
  const page = await postPage(client, ['data_sources', id, 'query'], body, at);
  const last = asText(asAnswer<PageObjectResponse>(page.values.at(-1)).created_time) ?? given.last;
  const isPartial = given.isPartial || page.isPartial;
  if (page.next !== null) return { ...page, next: { at: page.next, rows: { since, last, isPartial } }, isCut: false };
  const isCut = isPartial && (last === null || last === since);
  const next = isPartial && !isCut ? { at: null, rows: { ...FIRST, since: last } } : null;
  return { ...page, next, isCut };
}

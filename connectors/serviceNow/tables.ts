import { shapeOf, number, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { valueOf } from './adapter.js';
import { incompleteAnswer } from '../faults.js';
import { asObject, type Json, asTrimmed } from '../json.js';

const PER_PAGE = 100;
const NEXT_REL = /;\s*rel="?next"?/;

/** Classifies refusals. An unknown table is status 400 with an error text. */
export function classify({ status, body }: Refusal): ErrorClass | null {
  const message = asTrimmed(asObject(asObject(body)['error'])['message']);
  return status === 400 && /^invalid table/i.test(message) ? 'not_found' : null;
}

/** Position in a listing: the last record's id, and the number of later hidden records to skip. */
export const AFTER_CURSOR = shapeOf({ id: string, passed: number });
export type After = Checked<typeof AFTER_CURSOR>;
export const FROM_START: After = { id: '', passed: 0 };

/** A query of a table, or of the attachments. */
interface RowQuery {
  readonly query: string;
  /** Fields to request; unset: all. Ignored for attachments, which are always returned with all fields. */
  readonly fields?: string;
}

/**
 * Returns parameters that only the Table API has:
 * https://www.servicenow.com/docs/r/api-reference/rest-apis/c_AttachmentAPI.html
 */
const ofTable = (path: readonly string[], query: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  path[0] === 'table' ? query : {};
const NO_LINKS = { sysparm_exclude_reference_link: 'true' };

interface RowPage {
  readonly rows: readonly Json[];
  /** Null after the last page. */
  readonly next: After | null;
}

/**
 * Returns a page of a query, in id order, so that concurrent changes shift nothing between pages. ServiceNow removes
 * hidden rows after cutting the page: a short or empty page is not necessarily the last. Answers for tables name the
 * next page in a header. For attachments this header is documented only for downloads, so after a full page of
 * attachments the next page is requested too.
 */
export async function readPage(
  client: SourceClient,
  path: readonly string[],
  { query, fields }: RowQuery,
  after: After,
): Promise<RowPage> {
  const afterLast = after.id === '' ? '' : `sys_id>${after.id}`;
  // Each of the queries joined by `^NQ` has its own conditions.
  const queries = query.split('^NQ').map((part) => [part, afterLast].filter(Boolean).join('^'));
  const { values, headers } = await client.list(
    path,
    {
      sysparm_query: [queries.join('^NQ'), 'ORDERBYsys_id'].filter(Boolean).join('^'),
      sysparm_limit: String(PER_PAGE),
      sysparm_offset: String(after.passed),
      ...ofTable(path, { ...NO_LINKS, ...(fields === undefined ? {} : { sysparm_fields: fields }) }),
    },
    { within: 'result' },
  );
  const rows = values.map(asObject);
  const link = (headers['link'] ?? '').split(/,(?=\s*<)/).find((part) => NEXT_REL.test(part));
  const id = asTrimmed(rows.at(-1)?.['sys_id']);
  if (link === undefined) return { rows, next: rows.length < PER_PAGE || id === '' ? null : { id, passed: 0 } };
  const offset = Number(/[?&]sysparm_offset=(\d{1,12})/.exec(link)?.[1] ?? after.passed + PER_PAGE);
  return { rows, next: id === '' ? { ...after, passed: Math.max(offset, after.passed + 1) } : { id, passed: 0 } };
}

/** Returns the number of records that match a query, hidden ones included; null if it is not reported. */
export async function count(client: SourceClient, path: readonly string[], query: string): Promise<number | null> {
  const fields = { sysparm_query: query, sysparm_limit: '1', ...ofTable(path, { sysparm_fields: 'sys_id' }) };
  const { headers } = await client.list(path, fields, { within: 'result' });
  return /^\d{1,15}$/.test(headers['x-total-count'] ?? '') ? Number(headers['x-total-count']) : null;
}

/**
 * Returns all pages of a query. @param maxEntries throws a Fault beyond this number: an incomplete list would cause
 * deletions
 */
export async function readAll(
  client: SourceClient,
  path: readonly string[],
  wanted: RowQuery,
  maxEntries: number,
): Promise<readonly Json[]> {
  const all: Json[] = [];
  for (let after: After | null = FROM_START; after !== null;) {
    const page: RowPage = await readPage(client, path, wanted, after);
    all.push(...page.rows);
    after = page.next;
    if (all.length > maxEntries)
      throw new Fault(
        'too_large',
        `ServiceNow lists more than ${maxEntries} entries, the maximum for this kind of list.`,
      );
  }
  return all;
}

/** Returns one record. @throws Fault not_found */
export async function readOne(
  client: SourceClient,
  path: readonly string[],
  query: Readonly<Record<string, string>>,
): Promise<Json> {
  const fields = { ...query, ...ofTable(path, NO_LINKS) };
  const row = asObject((await client.get(path, fields))['result']);
  if (asTrimmed(valueOf(row['sys_id'])) === '') throw incompleteAnswer('ServiceNow', 'the record');
  return row;
}

import { shapeOf, number, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { valueOf } from './adapter.js';
import { incompleteAnswer } from '../faults.js';
import { asObject, type Json, asTrimmed } from '../json.js';

const PER_PAGE = 100;
const NEXT = /;\s*rel="?next"?/;

/** A table that is not there is 400, in words. */
export function classify({ status, body }: Refusal): ErrorClass | null {
  const message = asTrimmed(asObject(asObject(body)['error'])['message']);
  return status === 400 && /^invalid table/i.test(message) ? 'not_found' : null;
}

/** Position in a listing: after a record, and a number of further ones that the account may not see. */
export const AFTER_CURSOR = shapeOf({ id: string, passed: number });
export type After = Checked<typeof AFTER_CURSOR>;
export const FROM_START: After = { id: '', passed: 0 };

interface RowPage {
  readonly rows: readonly Json[];
  /** Null after the last page. */
  readonly next: After | null;
}

/**
 * A page of what a query finds, in the order of ids: rows that come and go meanwhile shift nothing out of it. What the account
 * may not see is taken out of a page after it was cut, so that a short page, or an empty one, is not the last.
 */
export async function readPage(
  client: SourceClient,
  path: readonly string[],
  { query, fields }: { readonly query: string; readonly fields: string },
  after: After,
): Promise<RowPage> {
  const behind = after.id === '' ? '' : `sys_id>${after.id}`;
  // Each of several queries has conditions of its own.
  const queries = query.split('^NQ').map((one) => [one, behind].filter(Boolean).join('^'));
  const { values, headers } = await client.list(
    path,
    {
      sysparm_query: [queries.join('^NQ'), 'ORDERBYsys_id'].filter(Boolean).join('^'),
      sysparm_fields: fields,
      sysparm_limit: String(PER_PAGE),
      sysparm_offset: String(after.passed),
      sysparm_exclude_reference_link: 'true',
    },
    'result',
  );
  const rows = values.map(asObject);
  const link = (headers['link'] ?? '').split(/,(?=\s*<)/).find((part) => NEXT.test(part));
  if (link === undefined) return { rows, next: null };
  const id = asTrimmed(rows.at(-1)?.['sys_id']);
  const offset = Number(/[?&]sysparm_offset=(\d{1,12})/.exec(link)?.[1] ?? after.passed + PER_PAGE);
  return { rows, next: id === '' ? { ...after, passed: Math.max(offset, after.passed + 1) } : { id, passed: 0 } };
}

/** How many a query finds, those that the account may not see included; null where it is not said. */
export async function count(client: SourceClient, path: readonly string[], query: string): Promise<number | null> {
  const asked = { sysparm_query: query, sysparm_fields: 'sys_id', sysparm_limit: '1' };
  const { headers } = await client.list(path, asked, 'result');
  return /^\d{1,15}$/.test(headers['x-total-count'] ?? '') ? Number(headers['x-total-count']) : null;
}

/** Returns all pages of a query. @param most throws a Fault beyond: a part must not look like the whole */
export async function readAll(
  client: SourceClient,
  path: readonly string[],
  wanted: { readonly query: string; readonly fields: string },
  most: number,
): Promise<readonly Json[]> {
  const all: Json[] = [];
  for (let after: After | null = FROM_START; after !== null;) {
    const page: RowPage = await readPage(client, path, wanted, after);
    all.push(...page.rows);
    after = page.next;
    if (all.length > most)
      throw new Fault('too_large', `ServiceNow lists more than the ${most} entries that are read of such a list.`);
  }
  return all;
}

/** One record, or what the system says of one. @throws Fault not_found */
export async function readOne(
  client: SourceClient,
  path: readonly string[],
  query: Readonly<Record<string, string>>,
): Promise<Json> {
  const asked = { ...query, sysparm_exclude_reference_link: 'true' };
  const row = asObject((await client.get(path, asked))['result']);
  if (asTrimmed(valueOf(row['sys_id'])) === '') throw incompleteAnswer('ServiceNow', 'the record');
  return row;
}

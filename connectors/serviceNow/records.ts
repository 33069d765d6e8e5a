import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../accountClient.js';
import type { ItemPage, SkippedItem, SourceItem } from '../sourceItem.js';
import {
  CUSTOM_PREFIXES,
  isListedTable,
  itemOfAttachment,
  itemOfRecord,
  itemOfTable,
  TABLES,
  typeOf,
} from './adapter.js';
import { withRootsCursor } from '../cursors.js';
import { AFTER_CURSOR, FROM_START, readAll, readPage } from './tables.js';
import { asTrimmed, type Json } from '../json.js';

/** Maximum number of attachments of the records of one page. */
const MAX_ATTACHMENTS = 10_000;
/** Query for the listed tables: the standard ones, or (`^NQ`) custom ones that extend `task`. */
const LISTED_TABLES = [
  `nameIN${TABLES.join(',')}`,
  ...CUSTOM_PREFIXES.map((prefix) => `super_class.name=task^nameSTARTSWITH${prefix}`),
].join('^NQ');

export const isKind = (error: unknown, ...kinds: Fault['kind'][]): boolean =>
  error instanceof Fault && kinds.includes(error.kind);

/** Returns the URL of the instance for a user's browser. */
export const siteOf = ({ urls }: SourceClient): string => (urls['authorize'] ?? '').replace(/\/[^/]*$/, '');

/** Finds the accessible tables by trying each, for an account that may not list tables. */
async function tablesByTrying(client: SourceClient): Promise<readonly SourceItem[]> {
  const found: SourceItem[] = [];
  for (const table of TABLES)
    try {
      await client.list(['table', table], { sysparm_limit: '1', sysparm_fields: 'sys_id' }, { within: 'result' });
      found.push(itemOfTable(table, '', siteOf(client)));
    } catch (error) {
      if (!isKind(error, 'access_denied', 'not_found')) throw error;
    }
  return found;
}

/** Returns a page of the listed tables. */
export const listTables = withRootsCursor(AFTER_CURSOR, async (client: SourceClient, cursor) => {
  try {
    const query = { query: LISTED_TABLES, fields: 'sys_id,name,label' };
    const { rows, next } = await readPage(client, ['table', 'sys_db_object'], query, cursor ?? FROM_START);
    const items = rows.flatMap((row) => {
      const table = asTrimmed(row['name']);
      return isListedTable(table) ? [itemOfTable(table, asTrimmed(row['label']), siteOf(client))] : [];
    });
    // If access rules hide all rows, the answer is an empty list instead of a refusal.
    if (items.length > 0 || next !== null || cursor !== null) return { items, next };
  } catch (error) {
    if (cursor !== null || !isKind(error, 'access_denied', 'not_found')) throw error;
  }
  return { items: await tablesByTrying(client), next: null };
});

/** Returns a table as `listTables` does: with its label, or without if the account may not list tables. */
export async function tableItem(client: SourceClient, table: string): Promise<SourceItem> {
  let label = '';
  try {
    const query = { query: `name=${table}`, fields: 'sys_id,name,label' };
    const { rows } = await readPage(client, ['table', 'sys_db_object'], query, FROM_START);
    label = asTrimmed(rows.find((row) => asTrimmed(row['name']) === table)?.['label']);
  } catch (error) {
    if (!isKind(error, 'access_denied', 'not_found')) throw error;
  }
  return itemOfTable(table, label, siteOf(client));
}

/** Returns null if the account may read records but not attachments. */
async function attachmentsOf(
  client: SourceClient,
  table: string,
  records: readonly string[],
): Promise<readonly SourceItem[] | null> {
  if (records.length === 0) return [];
  // The query does not contain the table: a record of a table that extends this one has attachments under the name of
  // its own table.
  const wanted = { query: `table_sys_idIN${records.join(',')}` };
  try {
    const rows = await readAll(client, ['attachment'], wanted, MAX_ATTACHMENTS);
    return rows.flatMap((row) => itemOfAttachment(row, table, siteOf(client)) ?? []);
  } catch (error) {
    if (isKind(error, 'access_denied')) return null;
    throw error;
  }
}

/** The entry for attachments that the account may not read, unlike their records. */
const unreadable = (table: string): SkippedItem => ({
  externalId: table,
  name: `Attachments of ${table}`,
  reason:
    'The account may read the records of this table but not their attachments. Give it access to them in ServiceNow.',
  typeAtSource: 'ATTACHMENT',
  attachedTo: typeOf(table),
});

/** Returns records, each followed by its attachments. */
export async function withAttachments(
  client: SourceClient,
  table: string,
  rows: readonly Json[],
): Promise<Required<Pick<ItemPage, 'items' | 'skipped'>>> {
  const ids = rows.map((row) => asTrimmed(row['sys_id'])).filter(Boolean);
  const attached = new Map<string, SourceItem[]>(ids.map((id) => [`${table}/${id}`, []]));
  const found = await attachmentsOf(client, table, ids);
  for (const item of found ?? []) attached.get(item.parentExternalId ?? '')?.push(item);
  const items = rows.flatMap((row) => {
    const inside = attached.get(`${table}/${asTrimmed(row['sys_id'])}`) ?? [];
    const record = itemOfRecord(row, table, siteOf(client), inside.length > 0);
    return record === null ? [] : [record, ...inside];
  });
  return { items, skipped: found === null ? [unreadable(table)] : [] };
}

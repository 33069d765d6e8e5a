import { changeFeed, shapeOf, listOf, nullable, number, oneOf, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../accountClient.js';
import type { Change, ChangePage } from '../sourceItem.js';
import { checkSyncCount, startSyncCount, nextSyncCount, SYNC_COUNT } from '../fullResync.js';
import { LISTED_FIELDS, READABLE } from './adapter.js';
import { isKind, listTables, withAttachments } from './records.js';
import { type After, AFTER_CURSOR, count, FROM_START, readPage } from './tables.js';
import { asTrimmed, type Json } from '../json.js';

/**
 * Overlap of successive queries. Times in queries are in the user's time zone, which is unknown and differs from UTC by
 * up to 14 hours. The overlap includes a margin.
 */
const OVERLAP_MS = 36 * 3_600_000;
const WITH_STATE = `${LISTED_FIELDS},workflow_state,active`;

/** Counts of a table's records and attachments that were created before a time. */
const countedTable = shapeOf({ table: string, records: number, attachments: number });
type Counted = Checked<typeof countedTable>;
const countsBefore = shapeOf({ before: string, tables: listOf(countedTable) });
type Counts = Checked<typeof countsBefore>;

/** Position of a scan: in the changed records of the first open table, or in its records with new attachments. */
const scanPosition = shapeOf({
  begun: number,
  open: listOf(string),
  /** What is scanned now. Stored cursors contain this name. */
  room: oneOf('table', 'attachment'),
  after: AFTER_CURSOR,
});
type Scan = Checked<typeof scanPosition>;

/** Start of the change queries, and the state of the current sync. */
const CHANGE_TOKEN = shapeOf({
  ...SYNC_COUNT,
  since: string,
  counts: countsBefore,
  /** The current scan, null between syncs. Stored cursors contain this name. */
  pass: nullable(scanPosition),
});
type ChangeToken = Checked<typeof CHANGE_TOKEN>;

const timestampOf = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');
const stale = (why: string): Fault => new Fault('stale_cursor', `ServiceNow ${why}. Everything is listed again.`);

async function countTable(client: SourceClient, table: string, before: string): Promise<Counted | null> {
  const created = `sys_created_on<${before}`;
  try {
    const records = await count(client, ['table', table], created);
    const attached = `table_name=${table}^${created}`;
    // The documentation describes counts of tables only.
    const attachments =
      (await count(client, ['attachment'], attached)) ?? (await count(client, ['table', 'sys_attachment'], attached));
    return records === null || attachments === null ? null : { table, records, attachments };
  } catch (error) {
    // A table that can't be counted is listed completely.
    if (isKind(error, 'access_denied', 'not_found', 'bad_response')) return null;
    throw error;
  }
}

async function countAll(client: SourceClient, names: readonly string[], now: number): Promise<Counts> {
  const before = timestampOf(now - OVERLAP_MS);
  const tables: Counted[] = [];
  for (const name of names) {
    const counted = await countTable(client, name, before);
    if (counted !== null) tables.push(counted);
  }
  if (tables.length === 0) throw stale('does not report how many records there are');
  return { before, tables };
}

/** ServiceNow does not report deletions, but they lower the counts. @throws Fault stale_cursor */
async function checkCounts(client: SourceClient, { before, tables }: Counts): Promise<void> {
  for (const { table, records, attachments } of tables) {
    const remaining = await countTable(client, table, before);
    if (remaining === null || remaining.records < records || remaining.attachments < attachments)
      throw stale('has deleted records, and does not report which');
  }
}

/** Whether a record is readable: drafts and retired records count as deleted. */
function isReadable(row: Json, table: string): boolean {
  const [field, value] = (READABLE[table] ?? '').split('=');
  return !field || asTrimmed(row[field]).toLowerCase() === value;
}

/** Returns the changes of some records, with their current attachments. */
async function changesOf(
  client: SourceClient,
  table: string,
  rows: readonly Json[],
): Promise<Pick<ChangePage, 'changes' | 'deletedPaths'>> {
  const idOf = (row: Json): string => `${table}/${asTrimmed(row['sys_id'])}`;
  const readable = rows.filter((row) => isReadable(row, table));
  const { items } = await withAttachments(client, table, readable);
  const deletions = rows.filter((row) => !isReadable(row, table)).map((row): Change => ({ gone: idOf(row) }));
  return { changes: [...deletions, ...items.map((item) => ({ item }))], deletedPaths: readable.map(idOf) };
}

/** Returns a page of a table's changes. */
async function fetchPage(client: SourceClient, table: string, since: string, { room: scanned, after }: Scan) {
  const updated = `sys_updated_on>=${since}`;
  if (scanned === 'table') {
    const page = await readPage(client, ['table', table], { query: updated, fields: WITH_STATE }, after);
    return { ...(await changesOf(client, table, page.rows)), next: page.next };
  }
  // A new attachment may leave its record's change time unchanged.
  const query = `table_name=${table}^${updated}`;
  const page = await readPage(client, ['attachment'], { query }, after);
  const ids = [...new Set(page.rows.map((row) => asTrimmed(row['table_sys_id'])).filter(Boolean))];
  if (ids.length === 0) return { changes: [], next: page.next };
  const rows: Json[] = [];
  for (let from: After | null = FROM_START; from !== null;) {
    const wanted = { query: `sys_idIN${ids.join(',')}`, fields: WITH_STATE };
    const part: Awaited<ReturnType<typeof readPage>> = await readPage(client, ['table', table], wanted, from);
    rows.push(...part.rows);
    from = part.next;
  }
  return { ...(await changesOf(client, table, rows)), next: page.next };
}

/**
 * The change feed. It finds changed records by their change time, and notices deletions because the counts of a table
 * are lower than at the last sync. Tables that cannot be counted are listed completely.
 */
export const recordChanges = changeFeed(CHANGE_TOKEN, {
  async now(client) {
    const now = Date.now();
    const names: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await listTables(client, cursor ?? null);
      names.push(...page.items.map(({ externalId }) => externalId));
      cursor = page.next;
    }
    const counts = await countAll(client, names, now);
    return { ...startSyncCount(), since: counts.before, counts, pass: null };
  },

  async since(client, cursor) {
    const coveredRoots = cursor.counts.tables.map(({ table }) => table);
    const scan: Scan = cursor.pass ?? { begun: Date.now(), open: coveredRoots, room: 'table', after: FROM_START };
    let { counts } = cursor;
    if (cursor.pass === null) {
      checkSyncCount(cursor, 'ServiceNow');
      // Take the new counts before the check and before reading the pages: a deletion after this count is noticed at
      // the next sync.
      counts = await countAll(client, coveredRoots, scan.begun);
      await checkCounts(client, cursor.counts);
    }
    const [table, ...others] = scan.open;
    if (table === undefined) throw stale('has an invalid cursor');
    const { next, ...changes } = await fetchPage(client, table, cursor.since, scan);
    const nextScanned =
      scan.room === 'table'
        ? { open: scan.open, room: 'attachment' as const }
        : { open: others, room: 'table' as const };
    const following: Scan = next === null ? { ...scan, ...nextScanned, after: FROM_START } : { ...scan, after: next };
    const more = following.open.length > 0;
    const on: ChangeToken = more
      ? { ...cursor, counts, pass: following }
      : { ...nextSyncCount(cursor), since: counts.before, counts, pass: null };
    return { ...changes, next: on, more, coveredRoots, isDeep: true };
  },
});

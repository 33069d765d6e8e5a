/** ServiceNow: records of an instance's tables, and what is attached to them. https://www.servicenow.com/docs/r/api-reference/rest-apis/c_TableAPI.html */
import { Fault } from '../../contract/failures.js';
import type { Connector, ItemPage, OAuthGrant, SourceClient, SourceItem } from '../connector.js';
import {
  ATTACHMENT_FIELDS,
  contentOfAttachment,
  contentOfRecord,
  CUSTOM,
  fieldsOf,
  isListedTable,
  itemOfAttachment,
  itemOfRecord,
  itemOfTable,
  LISTED_FIELDS,
  type Place,
  placeOf,
  READABLE,
  type Row,
  TABLES,
  textOf,
} from './adapter.js';
import { type After, classify, FROM_START, readAll, readOne, readPage } from './tables.js';

/** Nothing else can be sent in a header, so it is the token of nobody. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;
/** Of what is attached to the records of one page. */
const MAX_ATTACHMENTS = 10_000;
/** Custom tables are listed that are kinds of tasks: `^NQ` begins another query, and what either finds is found. */
const LISTED_TABLES = [
  `nameIN${TABLES.join(',')}`,
  ...CUSTOM.map((prefix) => `super_class.name=task^nameSTARTSWITH${prefix}`),
].join('^NQ');
const ME = 'user_name=javascript:gs.getUserName()';

const noSuchItem = (): Fault =>
  new Fault('not_found', 'ServiceNow has no such item for the connected account. It may have been deleted.');
const isKind = (error: unknown, ...kinds: Fault['kind'][]): boolean =>
  error instanceof Fault && kinds.includes(error.kind);

/** The address of the instance, as people open it. */
const siteOf = ({ urls }: SourceClient): string => (urls['authorize'] ?? '').replace(/\/[^/]*$/, '');

/** Tables that an account may look into who may not ask which there are. */
async function tablesByTrying(client: SourceClient, signal: AbortSignal): Promise<readonly SourceItem[]> {
  const found: SourceItem[] = [];
  for (const table of TABLES)
    try {
      await client.list(['table', table], { sysparm_limit: '1', sysparm_fields: 'sys_id' }, signal, 'result');
      found.push(itemOfTable(table, '', siteOf(client)));
    } catch (error) {
      if (!isKind(error, 'access_denied', 'not_found')) throw error;
    }
  return found;
}

async function attachmentsOf(
  client: SourceClient,
  table: string,
  records: readonly string[],
  signal: AbortSignal,
): Promise<readonly SourceItem[]> {
  if (records.length === 0) return [];
  const query = `table_name=${table}^table_sys_idIN${records.join(',')}`;
  const wanted = { query, fields: ATTACHMENT_FIELDS };
  try {
    const rows = await readAll(client, ['attachment'], wanted, MAX_ATTACHMENTS, signal);
    return rows.flatMap((row) => itemOfAttachment(row, table, siteOf(client)) ?? []);
  } catch (error) {
    // Whoever may read records alone reads these.
    if (isKind(error, 'access_denied')) return [];
    throw error;
  }
}

/** Records, each with what is attached to it behind it. */
async function withAttachments(
  client: SourceClient,
  table: string,
  rows: readonly Row[],
  signal: AbortSignal,
): Promise<readonly SourceItem[]> {
  const ids = rows.map((row) => textOf(row['sys_id'])).filter(Boolean);
  const attached = new Map<string, SourceItem[]>(ids.map((id) => [`${table}/${id}`, []]));
  for (const item of await attachmentsOf(client, table, ids, signal))
    attached.get(item.parentExternalId ?? '')?.push(item);
  return rows.flatMap((row) => {
    const inside = attached.get(`${table}/${textOf(row['sys_id'])}`) ?? [];
    const record = itemOfRecord(row, table, siteOf(client), inside.length > 0);
    return record === null ? [] : [record, ...inside];
  });
}

/** A page of a table: first itself. */
async function belowTable(
  client: SourceClient,
  table: string,
  cursor: string | null,
  signal: AbortSignal,
): Promise<ItemPage> {
  const after = cursor === null ? FROM_START : (JSON.parse(cursor) as After);
  const wanted = { query: READABLE[table] ?? '', fields: LISTED_FIELDS };
  const { rows, next } = await readPage(client, ['table', table], wanted, after, signal);
  const items = await withAttachments(client, table, rows, signal);
  const itself = cursor === null ? [itemOfTable(table, '', siteOf(client))] : [];
  return { items: [...itself, ...items], next: next === null ? null : JSON.stringify(next) };
}

/** A record as it can be read now. @throws Fault not_found for drafts as well, and for what was retired */
async function recordAt(
  client: SourceClient,
  { table, record }: Place,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Row> {
  const row = await readOne(client, ['table', table, record ?? ''], query, signal);
  const [field, value = ''] = (READABLE[table] ?? '').split('=');
  if (field && textOf(row[field]).toLowerCase() !== value) throw noSuchItem();
  return row;
}

/** What the system says of an attachment. @throws Fault not_found also where it hangs elsewhere */
async function attachmentAt(client: SourceClient, place: Place, signal: AbortSignal): Promise<Row> {
  const row = await readOne(client, ['attachment', place.attachment ?? ''], {}, signal);
  if (textOf(row['table_name']) !== place.table || textOf(row['table_sys_id']) !== place.record) throw noSuchItem();
  return row;
}

export const serviceNow: Connector<OAuthGrant> = {
  about: {
    listed: 'tables, records, attachments',
    ingested: 'each incident and record; attachments with `sync_attachments`',
    unchangedBy: 'when it was changed, and how often; of attachments the hash',
    deletions: 'drafts, and what was retired, count as deleted',
    limits:
      'the tables incident, problem, change_request, kb_knowledge, sc_cat_item and custom ones that are kinds of tasks',
  },
  oauth: {
    scopes: ['useraccount'],
    scopeSeparator: ' ',
    scopeParameter: 'scope',
    // Instances that know it check it; older ones pass it over.
    pkce: true,
    clientAuth: 'post',
    bodyFormat: 'form',
    authorizeParameters: {},
    rotates: false,
  },
  headers: ({ accessToken }) => ({ authorization: `Bearer ${TOKEN.test(accessToken) ? accessToken : 'none'}` }),
  classify,
  // Seconds since 1970.
  waitMs({ headers }, now) {
    const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
    return Number.isFinite(reset) && headers['retry-after'] === undefined ? Math.max(0, reset * 1000 - now) : null;
  },

  async identify(client, { facts }, signal) {
    const asked = { sysparm_query: ME, sysparm_fields: 'sys_id,user_name,name,email', sysparm_limit: '1' };
    const { values } = await client.list(['table', 'sys_user'], asked, signal, 'result');
    const user = (values[0] ?? {}) as Row;
    const [id, name] = [textOf(user['sys_id']), textOf(user['user_name'])];
    if (id === '' || name === '') throw new Fault('server_error', 'ServiceNow named no user. Try again.');
    const instance = (facts['instance'] ?? '').toLowerCase();
    const told = { user_id: id, user_name: textOf(user['name']) || name, email: textOf(user['email']), instance };
    return {
      account: `${name.toLowerCase()}|${instance}`,
      metadata: Object.fromEntries(Object.entries(told).filter(([, value]) => value !== '')),
    };
  },

  async roots(client, _grant, cursor, signal) {
    const after = cursor === null ? FROM_START : (JSON.parse(cursor) as After);
    try {
      const wanted = { query: LISTED_TABLES, fields: 'sys_id,name,label' };
      const { rows, next } = await readPage(client, ['table', 'sys_db_object'], wanted, after, signal);
      const items = rows.flatMap((row) => {
        const table = textOf(row['name']);
        return isListedTable(table) ? [itemOfTable(table, textOf(row['label']), siteOf(client))] : [];
      });
      // Rows that are all hidden say as little as a refusal.
      if (items.length > 0 || next !== null || cursor !== null)
        return { items, next: next === null ? null : JSON.stringify(next) };
    } catch (error) {
      if (cursor !== null || !isKind(error, 'access_denied', 'not_found')) throw error;
    }
    return { items: await tablesByTrying(client, signal), next: null };
  },

  async below(client, externalId, cursor, signal) {
    const place = placeOf(externalId);
    if (place === null || !isListedTable(place.table)) throw noSuchItem();
    const { table, record, attachment } = place;
    if (record === null) return belowTable(client, table, cursor, signal);
    const row = await recordAt(client, place, { sysparm_fields: `${LISTED_FIELDS},workflow_state,active` }, signal);
    if (attachment === null) return { items: await withAttachments(client, table, [row], signal), next: null };
    const item = itemOfAttachment(await attachmentAt(client, place, signal), table, siteOf(client));
    if (item === null) throw noSuchItem();
    return { items: [item], next: null };
  },

  async open(client, externalId, signal) {
    const place = placeOf(externalId);
    if (place === null || !isListedTable(place.table)) throw noSuchItem();
    const { table, record, attachment } = place;
    if (record === null)
      throw new Fault('unsupported_type', 'A table of ServiceNow has no text of its own: sync the records in it.');
    if (attachment === null) {
      const query = { sysparm_fields: fieldsOf(table), sysparm_display_value: 'true' };
      return contentOfRecord(await recordAt(client, place, query, signal), table, record, siteOf(client));
    }
    const told = await attachmentAt(client, place, signal);
    const { bytes } = await client.content(['attachment', attachment, 'file'], {}, signal);
    return contentOfAttachment(told, place, siteOf(client), bytes);
  },
};

/**
 * ServiceNow: records of an instance's tables, and their attachments.
 * https://www.servicenow.com/docs/r/api-reference/rest-apis/c_TableAPI.html
 */
import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { SourceClient } from '../accountClient.js';
import {
  contentOfAttachment,
  contentOfRecord,
  displayOf,
  fieldsOf,
  isListedTable,
  itemOfAttachment,
  LISTED_FIELDS,
  type ItemRef,
  parseItemId,
  READABLE,
  valueOf,
} from './adapter.js';
import { recordChanges } from './changes.js';
import { listTables, siteOf, tableItem, withAttachments } from './records.js';
import { withCursor } from '../cursors.js';
import { AFTER_CURSOR, classify, FROM_START, readOne, readPage } from './tables.js';
import { asTrimmed, type Json } from '../json.js';
import { bearer } from '../bearer.js';
import { noSuchItem } from '../faults.js';
/**
 * Query of the user's own record: the Table API evaluates `javascript:` in queries.
 * https://brainreview.org/blog/servicenow-user-supplied-sysparm-query
 */
const ME = 'user_name=javascript:gs.getUserName()';

/** Returns a page of a table; the first one includes the table itself. */
const listTable = withCursor(AFTER_CURSOR, async (client: SourceClient, table: string, cursor) => {
  const wanted = { query: READABLE[table] ?? '', fields: LISTED_FIELDS };
  const { rows, next } = await readPage(client, ['table', table], wanted, cursor ?? FROM_START);
  const { items, skipped } = await withAttachments(client, table, rows);
  const requestedItem = cursor === null ? [await tableItem(client, table)] : [];
  return { items: [...requestedItem, ...items], skipped, next };
});

/** Returns a record that is readable now. @throws Fault not_found also for drafts and retired ones */
async function recordAt(
  client: SourceClient,
  { table, record }: ItemRef,
  query: Readonly<Record<string, string>>,
): Promise<Json> {
  const row = await readOne(client, ['table', table, record ?? ''], query);
  const [field, value = ''] = (READABLE[table] ?? '').split('=');
  if (field && asTrimmed(valueOf(row[field])).toLowerCase() !== value) throw noSuchItem('ServiceNow');
  return row;
}

/** Returns the metadata of an attachment. @throws Fault not_found also if it belongs to another record */
async function attachmentAt(client: SourceClient, itemRef: ItemRef): Promise<Json> {
  const row = await readOne(client, ['attachment', itemRef.attachment ?? ''], {});
  // Compare only the record. The attachment may name a table that extends the table of the item, and ids of records
  // are unique in an instance.
  if (asTrimmed(row['table_sys_id']) !== itemRef.record) throw noSuchItem('ServiceNow');
  return row;
}

export const serviceNow: Connector<OAuthGrant> = {
  about: {
    listed: 'tables, records, attachments',
    ingested: 'each record of a supported table, such as an incident; attachments with `sync_attachments`',
    unchangedBy: 'time and number of changes; for attachments the hash',
    feedOmitsDeletions: true,
    deletions:
      'a lower count of records or attachments than at the last sync causes a complete listing; drafts and retired articles count as deleted',
    limits:
      'the tables incident, problem, change_request, kb_knowledge, sc_cat_item and custom tables that extend task',
  },
  oauth: {
    scopes: ['useraccount'],
    scopeSeparator: ' ',
    scopeParameter: 'scope',
    // Newer instances check it; older ones ignore it.
    pkce: true,
    clientAuth: 'post',
    bodyFormat: 'form',
    authorizeParameters: {},
    rotates: false,
    // A refresh token is valid for 100 days, and a refresh does not extend that. ServiceNow then refuses the token with
    // this answer, and the user must connect again.
    // https://support.servicenow.com/kb?id=kb_article_view&sysparm_article=KB0778194 (lifespan)
    // https://snpro.dev/2025/04/01/servicenow-oauth-refresh-token-issue (not extended)
    expiredRefresh: '401 server_error access_denied',
  },
  headers: bearer,
  classify,
  // ServiceNow's rate limit header contains seconds since 1970.
  waitMs({ headers }, now) {
    const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
    return Number.isFinite(reset) && headers['retry-after'] === undefined ? Math.max(0, reset * 1000 - now) : null;
  },

  async identify(client) {
    const { facts } = client.credentials;
    // An instance omits a condition that it considers invalid, and then returns all users: two users mean that it did.
    // https://community.servicenow.com/community/develop/blog/authors/catie.carmody
    // (glide.invalid_query.returns_no_rows)
    const asked = { sysparm_query: ME, sysparm_fields: 'sys_id,user_name,name,email', sysparm_limit: '2' };
    const { values } = await client.list(['table', 'sys_user'], asked, { within: 'result' });
    if (values.length > 1)
      throw new Fault(
        'access_denied',
        'ServiceNow does not report whose account this is: the instance does not evaluate scripts in queries. Ask its administrator to permit them, then connect again.',
      );
    const user = (values[0] ?? {}) as Json;
    const [id, name] = [asTrimmed(user['sys_id']), asTrimmed(user['user_name'])];
    if (id === '' || name === '') throw new Fault('server_error', 'ServiceNow returned no user. Try again.');
    const instance = (facts['instance'] ?? '').toLowerCase();
    const userFacts = {
      user_id: id,
      user_name: asTrimmed(user['name']) || name,
      email: asTrimmed(user['email']),
      instance,
    };
    return {
      account: `${name.toLowerCase()}|${instance}`,
      metadata: Object.fromEntries(Object.entries(userFacts).filter(([, value]) => value !== '')),
    };
  },

  listRoots: listTables,

  async listDescendants(client, externalId, cursor) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null || !isListedTable(itemRef.table)) throw noSuchItem('ServiceNow');
    const { table, record, attachment } = itemRef;
    if (record === null) return listTable(client, table, cursor);
    const row = await recordAt(client, itemRef, { sysparm_fields: `${LISTED_FIELDS},workflow_state,active` });
    if (attachment === null) return { ...(await withAttachments(client, table, [row])), next: null };
    const item = itemOfAttachment(await attachmentAt(client, itemRef), table, siteOf(client));
    if (item === null) throw noSuchItem('ServiceNow');
    return { items: [item], next: null };
  },

  changes: recordChanges,

  async open(client, externalId) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null || !isListedTable(itemRef.table)) throw noSuchItem('ServiceNow');
    const { table, record, attachment } = itemRef;
    if (record === null)
      throw new Fault('unsupported_type', 'A ServiceNow table has no text of its own: sync the records in it.');
    if (attachment === null) {
      // Requests both forms of each value: the text shows display values in the user's language, and readability is
      // checked by the language-independent value.
      // https://www.servicenow.com/docs/r/api-reference/rest-apis/c_TableAPI.html (sysparm_display_value)
      const query = { sysparm_fields: fieldsOf(table), sysparm_display_value: 'all' };
      const recordWithLabels = await recordAt(client, itemRef, query);
      return contentOfRecord(displayOf(recordWithLabels), table, record, siteOf(client));
    }
    const attachmentRecord = await attachmentAt(client, itemRef);
    const { bytes } = await client.content(['attachment', attachment, 'file'], {});
    return contentOfAttachment(attachmentRecord, itemRef, siteOf(client), bytes);
  },
};

import { changeFeed, shapeOf, nullable, number, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { SourceClient } from '../accountClient.js';
import type { Change } from '../sourceItem.js';
import { type AccountIds, idOf, idsOf } from '../helpdesk.js';
import { checkSyncCount, startSyncCount, nextSyncCount, SYNC_COUNT } from '../fullResync.js';
import { itemOfTicket, TICKETS, type Users } from './adapter.js';
import { NAME } from './api.js';
import { agentOf, attachmentsOf, COMMENTS_AT_ONCE, exported, listed, TICKET_CURSOR } from './tickets.js';
import type { Answer } from '../json.js';
import type { ZendeskTicket } from './fields.js';
import { isFault } from '../faults.js';

/** Minimum age of an export's start: Zendesk rejects times within the last minute. */
const MIN_AGE_S = 300;

/** Position in the export of tickets. */
const CHANGE_TOKEN = shapeOf({
  ...SYNC_COUNT,
  /** Start time in seconds since 1970, as long as there is no cursor. */
  start: number,
  cursor: nullable(string),
  /**
   * Position of the current scan for changes: in the export, or in the latest tickets, which the export omits, or after
   * all tickets, while attachments are still listed. Null between syncs. Stored cursors contain the field name `pass`,
   * so it must not be renamed.
   */
  pass: nullable(TICKET_CURSOR),
});
type ChangeToken = Checked<typeof CHANGE_TOKEN>;
type Scan = NonNullable<ChangeToken['pass']>;

/** Returns the conversion to item ids that are unique across accounts: each account numbers its tickets from 1. */
export const idsIn = ({ facts }: OAuthGrant): AccountIds => idsOf(facts['subdomain'] ?? '');

/** Converts an exported ticket to a change. */
function changeOf(ticket: Answer<ZendeskTicket>, users: Users, agent: string): Change[] {
  const item = itemOfTicket(ticket, users, agent);
  if (item !== null) return [{ item }];
  const id = idOf(ticket.id);
  return id === null ? [] : [{ gone: `ticket:${id}` }];
}

const withOuterIds = (ids: AccountIds, changes: readonly Change[]): readonly Change[] =>
  changes.map((change) => {
    if ('gone' in change) return { gone: ids.outer(change.gone) };
    const [item = change.item] = ids.page({ items: [change.item], next: null }).items;
    return { item };
  });

/** Returns a page of changed tickets. */
async function changedTickets(client: SourceClient, token: ChangeToken) {
  const scan: Scan = token.pass ?? { from: 'export', at: null, begun: Date.now(), rest: [] };
  if (scan.from === 'export') {
    const { next, isEnd, ...page } = await exported(client, token.start, token.cursor);
    return { page, cursor: next ?? token.cursor, pass: { ...scan, from: isEnd ? ('latest' as const) : scan.from } };
  }
  const { following, ...page } = await listed(client, scan);
  return { page, cursor: token.cursor, pass: { ...scan, ...following } };
}

/**
 * Lists the attachments of changed tickets. `deletedPaths` names these tickets, so that a sync deletes their stored
 * attachments that are no longer listed.
 */
async function listAttached(client: SourceClient, ids: AccountIds, pendingIds: readonly string[]) {
  const batch = pendingIds.slice(0, COMMENTS_AT_ONCE);
  const items = (await Promise.all(batch.map((id) => attachmentsOf(client, id, null)))).flat();
  const deletedPaths = batch.map((id) => ids.outer(`ticket:${id}`));
  return { changes: items.map((item) => ({ item })), deletedPaths, rest: pendingIds.slice(COMMENTS_AT_ONCE) };
}

/**
 * The export reports changes of tickets, deletions included. The help centre has no such export and is listed
 * completely.
 * https://developer.zendesk.com/documentation/ticketing/managing-tickets/using-the-incremental-export-api/
 */
export const ticketChanges = changeFeed(CHANGE_TOKEN, {
  async now(client) {
    const start = Math.floor(Date.now() / 1000) - MIN_AGE_S;
    try {
      // The listing that follows includes everything before the cursor.
      const { next } = await exported(client, start, null);
      return { ...startSyncCount(), start, cursor: next, pass: null };
    } catch (error) {
      // Only administrators may export.
      if (isFault(error, 'access_denied'))
        throw new Fault('stale_cursor', `${NAME} does not let this account export tickets. Everything is listed.`);
      throw error;
    }
  },

  async since(client, token) {
    const ids = idsIn(client.credentials);
    if (token.pass === null) checkSyncCount(token, NAME);
    const coveredRoots = [ids.outer(TICKETS)];
    const continueAt = (cursor: string | null, pass: Scan) => {
      const more = pass.from !== 'end' || pass.rest.length > 0;
      const next: ChangeToken = more
        ? { ...token, cursor, pass }
        : { ...token, ...nextSyncCount(token), cursor, pass: null };
      return { next, more, coveredRoots, isDeep: true as const };
    };
    if (token.pass !== null && token.pass.rest.length > 0) {
      const { changes, deletedPaths, rest } = await listAttached(client, ids, token.pass.rest);
      return {
        changes: withOuterIds(ids, changes),
        deletedPaths,
        ...continueAt(token.cursor, { ...token.pass, rest }),
      };
    }
    try {
      const { page, cursor, pass } = await changedTickets(client, token);
      const changes = page.values.flatMap((ticket) => changeOf(ticket, page.users, agentOf(client)));
      const rest = changes.flatMap((change) =>
        'item' in change ? [change.item.externalId.slice('ticket:'.length)] : [],
      );
      return { changes: withOuterIds(ids, changes), ...continueAt(cursor, { ...pass, rest }) };
    } catch (error) {
      // The user is no longer an administrator, or the cursor is too old.
      if (isFault(error, 'access_denied') || isFault(error, 'bad_response'))
        throw new Fault(
          'stale_cursor',
          `${NAME} no longer has the changes since the last sync. Everything is listed again.`,
        );
      throw error;
    }
  },
});

import { changeFeed, shapeOf, listOf, nullable, number, oneOf, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../accountClient.js';
import { checkSyncCount, startSyncCount, nextSyncCount, SYNC_COUNT } from '../fullResync.js';
import { itemOfConversation, itemOfTicket, NO_PEOPLE, type ThreadKind } from './adapter.js';
import { NAME, fetchSearchPage } from './api.js';
import { AT_ONCE, attachedTo, LISTS, unlessGone } from './threads.js';
import { isFault } from '../faults.js';

const KINDS: readonly ThreadKind[] = ['conversation', 'ticket'];
/** Overlap of successive searches: they may compare by day only, and their index lags behind changes. */
const OVERLAP_S = 2 * 86_400;

/** Number of items of a kind that were created before a time, in seconds since 1970. */
const countedKind = shapeOf({ kind: oneOf(...KINDS), before: number, total: number });
type Counted = Checked<typeof countedKind>;

/** Position of a sync that has read some pages of its changes. */
const syncPosition = shapeOf({
  begun: number,
  /** Kinds still to be searched; the first one is in progress. */
  open: listOf(oneOf(...KINDS)),
  at: nullable(string),
  /** Items of the first kind whose attachments remain to be listed. */
  rest: listOf(string),
});
type SyncPosition = Checked<typeof syncPosition>;
const CHANGE_TOKEN = shapeOf({
  ...SYNC_COUNT,
  /** Start of the change search, in seconds since 1970. */
  since: number,
  counted: listOf(countedKind),
  /** State of the current sync; null between syncs. */
  pass: nullable(syncPosition),
});
type ChangeToken = Checked<typeof CHANGE_TOKEN>;

const stale = (why: string): Fault => new Fault('stale_cursor', `${NAME} ${why}. Everything is listed again.`);
const nowInSeconds = (): number => Math.floor(Date.now() / 1000);

/**
 * Returns the number of items of a kind that were created before a time, in seconds since 1970. Null if the account
 * cannot read this kind, or if Intercom does not state the number.
 */
async function count(client: SourceClient, kind: ThreadKind, before: number): Promise<number | null> {
  try {
    const query = { field: 'created_at', operator: '<', value: before } as const;
    return (await fetchSearchPage(client, LISTS[kind], null, query)).total;
  } catch (error) {
    if (isFault(error, 'access_denied') || isFault(error, 'not_found')) return null;
    throw error;
  }
}

async function countAll(client: SourceClient, kinds: readonly ThreadKind[], now: number) {
  const before = now - OVERLAP_S;
  const counted: Counted[] = [];
  for (const kind of kinds) {
    const total = await count(client, kind, before);
    if (total !== null) counted.push({ kind, before, total });
  }
  if (counted.length === 0) throw stale('does not report changes of conversations and tickets');
  return counted;
}

/** Intercom does not report deletions, but they lower the counts. @throws Fault stale_cursor */
async function checkCounts(client: SourceClient, counted: readonly Counted[]): Promise<void> {
  for (const { kind, before, total } of counted) {
    const remaining = await count(client, kind, before);
    if (remaining === null || remaining < total) throw stale(`has deleted ${LISTS[kind]}, and does not report which`);
  }
}

/**
 * Lists the attachments of changed items. `deletedPaths` contains the path of each item, so that its stored attachments
 * that are no longer listed are deleted.
 */
async function listAttached(client: SourceClient, kind: ThreadKind, pendingIds: readonly string[]) {
  const batch = pendingIds.slice(0, AT_ONCE);
  const items = (await Promise.all(batch.map((id) => unlessGone(attachedTo(client, kind, id))))).flat();
  return { items, deletedPaths: batch.map((id) => `${kind}:${id}`), rest: pendingIds.slice(AT_ONCE) };
}

async function searchChanged(client: SourceClient, kind: ThreadKind, since: number, at: string | null) {
  const query = { field: 'updated_at', operator: '>', value: since } as const;
  const { values, next } = await fetchSearchPage(client, LISTS[kind], at, query);
  const items = values.flatMap(
    (value) => (kind === 'ticket' ? itemOfTicket(value, NO_PEOPLE) : itemOfConversation(value)) ?? [],
  );
  return { items, next, rest: items.map(({ externalId }) => externalId.slice(kind.length + 1)) };
}

/**
 * The change feed: changed conversations and tickets are searched for; articles are listed completely in each sync.
 */
export const threadChanges = changeFeed(CHANGE_TOKEN, {
  async now(client) {
    const now = nowInSeconds();
    return {
      ...startSyncCount(),
      since: now - OVERLAP_S,
      counted: await countAll(client, KINDS, now),
      pass: null,
    };
  },

  async since(client, cursor) {
    const kinds = cursor.counted.map(({ kind }) => kind);
    const coveredRoots = kinds.map((kind) => LISTS[kind]);
    const position: SyncPosition = cursor.pass ?? { begun: nowInSeconds(), open: kinds, at: null, rest: [] };
    let { counted } = cursor;
    if (cursor.pass === null) {
      checkSyncCount(cursor, NAME);
      // Count before the check and before the pages are read: a deletion after this count lowers the next sync's count.
      counted = await countAll(client, kinds, position.begun);
      await checkCounts(client, cursor.counted);
    }
    const [kind, ...others] = position.open;
    if (kind === undefined) throw stale('has an invalid cursor');
    const continueAt = (following: SyncPosition) => {
      const more = following.open.length > 0;
      const next: ChangeToken = more
        ? { ...cursor, counted, pass: following }
        : { ...nextSyncCount(cursor), since: position.begun - OVERLAP_S, counted, pass: null };
      return { next, more, coveredRoots, isDeep: true as const };
    };
    const nextPosition = (at: string | null, isEnd: boolean, pendingIds: readonly string[]): SyncPosition =>
      isEnd && pendingIds.length === 0
        ? { ...position, open: others, at: null, rest: pendingIds }
        : { ...position, at, rest: pendingIds };
    if (position.rest.length > 0) {
      const { items, deletedPaths, rest } = await listAttached(client, kind, position.rest);
      // A search page without a next one is the last.
      return {
        changes: items.map((item) => ({ item })),
        deletedPaths,
        ...continueAt(nextPosition(position.at, position.at === null, rest)),
      };
    }
    const { items, next, rest } = await searchChanged(client, kind, cursor.since, position.at);
    return { changes: items.map((item) => ({ item })), ...continueAt(nextPosition(next, next === null, rest)) };
  },
});

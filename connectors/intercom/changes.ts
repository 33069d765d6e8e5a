import { changeFeed, shapeOf, listOf, nullable, number, oneOf, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../connector.js';
import { checkPasses, firstPass, nextPass, PASSES } from '../fullResync.js';
import { itemOfConversation, itemOfTicket, NOBODY, type ThreadKind } from './adapter.js';
import { NAME, searchAll } from './api.js';
import { AT_ONCE, attachedTo, LISTS, unlessGone } from './threads.js';
import { isFault } from '../faults.js';

const KINDS: readonly ThreadKind[] = ['conversation', 'ticket'];
/** Searches take the day of a moment for it, and find what changed some time after it did. */
const OVERLAP_S = 2 * 86_400;

/** What of one kind was there: as many as were created before a moment, in seconds since 1970. */
const countedKind = shapeOf({ kind: oneOf(...KINDS), before: number, total: number });
type Counted = Checked<typeof countedKind>;

/** Position of a sync. */
const passUnderWay = shapeOf({
  begun: number,
  /** Kinds that are still to be asked for; the first one is under way. */
  open: listOf(oneOf(...KINDS)),
  at: nullable(string),
  /** Items of the first kind whose attachments remain to be listed. */
  rest: listOf(string),
});
type Pass = Checked<typeof passUnderWay>;
const TOKEN = shapeOf({
  ...PASSES,
  /** Since when changes are to be asked for, in seconds since 1970. */
  since: number,
  counted: listOf(countedKind),
  /** Null between passes. */
  pass: nullable(passUnderWay),
});
type Point = Checked<typeof TOKEN>;

const stale = (why: string): Fault => new Fault('stale_cursor', `${NAME} ${why}. All is listed.`);
const nowInSeconds = (): number => Math.floor(Date.now() / 1000);

/** How many of a kind were created before a moment; null where that is not for the account, or not said. */
async function count(client: SourceClient, kind: ThreadKind, before: number): Promise<number | null> {
  try {
    const query = { field: 'created_at', operator: '<', value: before } as const;
    return (await searchAll(client, LISTS[kind], null, query)).total;
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
  if (counted.length === 0) throw stale('does not say what happened to conversations and tickets');
  return counted;
}

/** Intercom does not report deletions, but they lower the counts. @throws Fault stale_cursor */
async function checkCounts(client: SourceClient, counted: readonly Counted[]): Promise<void> {
  for (const { kind, before, total } of counted) {
    const left = await count(client, kind, before);
    if (left === null || left < total) throw stale(`has lost ${LISTS[kind]}, and does not say which`);
  }
}

/** Lists the attachments of changed items; their other attachments were deleted. */
async function takeAttached(client: SourceClient, kind: ThreadKind, rest: readonly string[]) {
  const some = rest.slice(0, AT_ONCE);
  const items = (await Promise.all(some.map((id) => unlessGone(attachedTo(client, kind, id))))).flat();
  return { items, deletedPaths: some.map((id) => `${kind}:${id}`), rest: rest.slice(AT_ONCE) };
}

async function takeChanged(client: SourceClient, kind: ThreadKind, since: number, at: string | null) {
  const query = { field: 'updated_at', operator: '>', value: since } as const;
  const { values, next } = await searchAll(client, LISTS[kind], at, query);
  const items = values.flatMap(
    (one) => (kind === 'ticket' ? itemOfTicket(one, NOBODY) : itemOfConversation(one)) ?? [],
  );
  return { items, next, rest: items.map(({ externalId }) => externalId.slice(kind.length + 1)) };
}

/** Conversations and tickets that changed are searched for; articles are listed whole. */
export const threadChanges = changeFeed(TOKEN, {
  async now(client) {
    const now = nowInSeconds();
    return {
      ...firstPass(),
      since: now - OVERLAP_S,
      counted: await countAll(client, KINDS, now),
      pass: null,
    };
  },

  async since(client, point) {
    const kinds = point.counted.map(({ kind }) => kind);
    const coveredRoots = kinds.map((kind) => LISTS[kind]);
    if (point.pass === null) {
      checkPasses(point, NAME);
      await checkCounts(client, point.counted);
    }
    const pass: Pass = point.pass ?? { begun: nowInSeconds(), open: kinds, at: null, rest: [] };
    const [kind, ...others] = pass.open;
    if (kind === undefined) throw stale('has an invalid cursor');
    const on = async (behind: Pass) => {
      const more = behind.open.length > 0;
      const next: Point = more
        ? { ...point, pass: behind }
        : {
            ...nextPass(point),
            since: pass.begun - OVERLAP_S,
            counted: await countAll(client, kinds, pass.begun),
            pass: null,
          };
      return { next, more, coveredRoots, isDeep: true as const };
    };
    const behind = (at: string | null, isEnd: boolean, rest: readonly string[]): Pass =>
      isEnd && rest.length === 0 ? { ...pass, open: others, at: null, rest } : { ...pass, at, rest };
    if (pass.rest.length > 0) {
      const { items, deletedPaths, rest } = await takeAttached(client, kind, pass.rest);
      // A page of a search is the last where it names no other.
      return {
        changes: items.map((item) => ({ item })),
        deletedPaths,
        ...(await on(behind(pass.at, pass.at === null, rest))),
      };
    }
    const { items, next, rest } = await takeChanged(client, kind, point.since, pass.at);
    return { changes: items.map((item) => ({ item })), ...(await on(behind(next, next === null, rest))) };
  },
});

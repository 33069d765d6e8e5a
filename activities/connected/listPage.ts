import type { Change, SourceItem } from '../../connectors/sourceItem.js';
import type { Account } from '../../connectors/account.js';
import {
  MAX_INACCESSIBLE,
  type SyncItemsProgress,
  type SyncItemsRequest,
  type Walk,
  WALK_ALL,
  walkOf,
} from '../../contract/accounts/connections.js';
import { Fault } from '../../contract/failures.js';
import type { Items } from '../../store/items/items.js';
import type { OpenAccount } from './openAccount.js';
import { nextPage } from './walk.js';

type Feed = NonNullable<Account['changes']>;

/** A listing of an account, and the run that owns it. */
export interface Listing extends SyncItemsRequest {
  readonly runId: number;
  readonly items: Pick<
    Items,
    'listClosed' | 'listUnlistedRoots' | 'markClosed' | 'markDeleted' | 'markPathsDeleted' | 'unlist' | 'upsert'
  >;
}

/** Converts a connector's item to a stored item: the fields that the API returns, and the version. */
const listedOf = (account: Account) => (given: SourceItem) => {
  const { hasContent: _content, isAttachment: _attached, createdAt: _at, tags: _tags, ...listed } = given;
  const { typeAtSource: _type, attachedTo: _of, skipReason: _why, ...item } = listed;
  return { ...item, source: account.sourceOf(item.externalId) };
};

const isUnversioned = ({ hasContent, isAttachment, version }: SourceItem): boolean =>
  (hasContent || isAttachment === true) && version === null;

const isStale = (error: unknown): boolean => error instanceof Fault && error.kind === 'stale_cursor';

type CurrentToken = Required<Pick<SyncItemsProgress, 'nextChangeToken' | 'isPreparing'>>;

/**
 * Requests the current cursor of the change feed. If a source needs several requests for it, the result contains the
 * token of the next request and `isPreparing`. If the source rejects the token as stale, `nextChangeToken` is null, and
 * the next listing is a full one again.
 * @param token token of the previous result; null for the first request
 */
async function currentToken(feed: Feed, token: string | null, signal: AbortSignal): Promise<CurrentToken> {
  try {
    if (token === null) return { nextChangeToken: await feed.now(signal), isPreparing: feed.prepare !== undefined };
    const { next, more } = (await feed.prepare?.(token, signal)) ?? { next: token, more: false };
    return { nextChangeToken: next, isPreparing: more };
  } catch (error) {
    if (isStale(error)) return { nextChangeToken: null, isPreparing: false };
    throw error;
  }
}

/**
 * Chooses between change feed and full listing. The cursor is read before anything is listed, so that the feed reports
 * all later changes.
 */
async function begin(
  { source, account }: OpenAccount,
  progress: SyncItemsProgress,
  { items }: Listing,
  signal: AbortSignal,
): Promise<SyncItemsProgress> {
  const { changeToken = null } = source;
  const feed = account.changes;
  if (!feed) return { ...progress, nextChangeToken: null };
  if (changeToken === null) return { ...progress, ...(await currentToken(feed, null, signal)) };
  // Walk the folders again that an earlier listing could not list: the feed reports only their changes, not the
  // contents that they already have.
  const closed = await items.listClosed(source, MAX_INACCESSIBLE);
  return { ...progress, walk: walkOf(closed), changeToken, nextChangeToken: changeToken };
}

/**
 * Stores a page of changes. New and restored folders are then walked, because the feed does not report their contents,
 * unless the page is deep.
 */
async function storeChanges(
  { source, account }: OpenAccount,
  { feed, changeToken }: { readonly feed: Feed; readonly changeToken: string },
  progress: SyncItemsProgress,
  { runId, items }: Listing,
  signal: AbortSignal,
): Promise<SyncItemsProgress> {
  const page = await feed.since(changeToken, signal);
  const { changes, deletedPaths = [], next, more, isDeep = false } = page;
  // The first page of changes may name the root items that the feed covers. This listing then also reads the list of
  // root items, and walks the contents of those that the feed does not cover.
  const covered = page.coveredRoots && !progress.coveredRoots ? { coveredRoots: page.coveredRoots } : null;
  const lastChanges = new Map<string, Change>();
  for (const change of changes) lastChanges.set('gone' in change ? change.gone : change.item.externalId, change);
  const latest = [...lastChanges.values()];
  const changedItems = latest.flatMap((change) => ('item' in change ? [change.item] : []));
  // Deletions come first, because contents of a deleted folder may have been moved out of it.
  const deletedIds = latest.flatMap((change) => ('gone' in change ? [change.gone] : []));
  await items.markDeleted(source, deletedIds);
  await items.markPathsDeleted(source, deletedPaths);
  const newIds = await items.upsert(source, runId, changedItems.map(listedOf(account)));
  const newFolders = changedItems.flatMap(({ externalId, isExpandable }) =>
    isExpandable && !isDeep && newIds.has(externalId) ? [externalId] : [],
  );
  const roots = covered ? { next: null } : progress.walk.roots;
  const walk = { ...progress.walk, open: [...new Set([...progress.walk.open, ...newFolders])], roots };
  const listed = progress.listed + latest.length;
  return { ...progress, ...covered, walk, changeToken: more ? next : null, nextChangeToken: next, listed };
}

/**
 * At the end of an incomplete list of root items, marks the known root items that it omitted as inaccessible, so that
 * they and their contents stay. Must run after the root items of the last page are stored. Safe to repeat.
 * @param from walk before the page
 * @param to walk after the page
 * @returns the number of incomplete pages, which the caller adds to `closed`; 0 if the list has not ended, and if more
 *   than MAX_INACCESSIBLE root items were omitted: then none is marked, `refused` stays above `closed`, and the listing
 *   deletes nothing
 */
async function closeOmittedRoots(
  source: OpenAccount['source'],
  { runId, items }: Listing,
  from: Walk,
  { roots, partialPages = 0 }: Walk,
): Promise<number> {
  if (from.roots === null || roots !== null || partialPages === 0) return 0;
  const omitted = await items.listUnlistedRoots(source, runId, MAX_INACCESSIBLE + 1);
  if (omitted.length > MAX_INACCESSIBLE) return 0;
  await items.markClosed(source, runId, omitted);
  return partialPages;
}

/** Stores the next page of a listing and returns the listing after it. Safe to repeat. @throws Fault */
export async function listPage(
  open: OpenAccount,
  progress: SyncItemsProgress,
  listing: Listing,
  signal: AbortSignal,
): Promise<SyncItemsProgress> {
  const { source, account } = open;
  const feed = account.changes;
  if (progress.nextChangeToken === undefined && listing.isPartial !== true)
    return begin(open, progress, listing, signal);
  if (feed && progress.isPreparing === true)
    return { ...progress, ...(await currentToken(feed, progress.nextChangeToken ?? null, signal)) };
  if (feed && typeof progress.changeToken === 'string') {
    try {
      return await storeChanges(open, { feed, changeToken: progress.changeToken }, progress, listing, signal);
    } catch (error) {
      if (!isStale(error)) throw error;
      // Items that the feed reported may have been deleted since, so the full listing must find them again.
      await listing.items.unlist(source, listing.runId);
      return { walk: WALK_ALL, listed: 0, ...(await currentToken(feed, null, signal)) };
    }
  }
  const { items, refused, walk } = await nextPage(account, progress.walk, signal);
  const newIds = await listing.items.upsert(source, listing.runId, items.map(listedOf(account)));
  const storedIds = await listing.items.markClosed(source, listing.runId, refused);
  const numPartial = await closeOmittedRoots(source, listing, progress.walk, walk);
  const closed = (walk.closed ?? 0) + refused.filter((id) => storedIds.has(id)).length + numPartial;
  const { coveredRoots = [] } = progress;
  // The feed reports the contents of a covered root item. They are walked only if the page of the list of root items
  // stored it as a new one, because the feed reports only later changes. Such a root item stays open on later pages.
  const toWalk = new Set([...progress.walk.open, ...newIds]);
  const remaining = walk.open.filter((id) => !coveredRoots.includes(id) || toWalk.has(id));
  const hasUnversioned = progress.hasUnversioned === true || items.some(isUnversioned);
  const listed = progress.listed + items.length;
  return { ...progress, ...(hasUnversioned && { hasUnversioned }), walk: { ...walk, open: remaining, closed }, listed };
}

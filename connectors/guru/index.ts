/**
 * Guru: collections of cards, which may be in folders. The token belongs to a user or to a collection.
 * https://developer.getguru.com
 */
import {
  type PageAt,
  withRootsCursor,
  withCursor,
  shapeOf,
  listOf,
  nullable,
  recordOf,
  string,
  type Checked,
} from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import type { SourceClient } from '../accountClient.js';
import type { SourceItem } from '../sourceItem.js';
import type { GuruCard, GuruCollection, GuruFolder, GuruIdentity, GuruTeam, GuruUser } from './fields.js';
import { contentOf, externalIdOf, itemOf, type Kind, type ItemRef, parseItemId } from './adapter.js';
import { type Answer, asAnswer, asText } from '../json.js';
import { incompleteAnswer, noSuchItem, requireId } from '../faults.js';

/** Credentials supplied by the caller. */
export interface GuruCredentials {
  /** The user's email address, or the id of the collection that the token is for. */
  readonly username: string;
  readonly accessToken: string;
}

type Query = Readonly<Record<string, string>>;

const isMissing = (error: unknown): boolean => error instanceof Fault && error.kind === 'not_found';

/** Returns a page of a list. Only the query of the next link is used: its host and path are not trusted. */
async function fetchPage<T>(client: SourceClient, path: readonly string[], query: Query) {
  // A search without results is answered with 204.
  const { values, headers } = await client.list(path, query, { isEmptyAt204: path[0] === 'search' });
  const link = /<\s*([^>]+?)\s*>\s*;\s*rel="?next-page"?/.exec(headers['link'] ?? '')?.[1];
  if (link !== undefined && !URL.canParse(link))
    throw new Fault(
      'server_error',
      'Guru returned a list without its next page. The request is retried automatically.',
    );
  const next = link === undefined ? null : Object.fromEntries(new URL(link).searchParams);
  return { values: values.map(asAnswer<T>), next };
}

/** Query for all cards, sorted by creation date so that concurrent changes do not shift later pages. */
const ALL_CARDS: Query = { queryType: 'cards', sortField: 'dateCreated', sortOrder: 'asc', maxResults: '50' };

/**
 * Query for the entries of a folder. Without it, cards have no dates, so that unchanged ones would be fetched again in
 * each sync. https://github.com/guruhq/py-sdk/commit/824dfe5
 */
const WITH_DATES: Query = { cardDetail: 'FULL' };

/** Position in a listing: the folders, then, for a collection, its cards without a folder. */
const CURSOR = shapeOf({
  root: string,
  open: listOf(shapeOf({ folder: string, owner: string })),
  /** Position in the first folder, or in the list of all cards; null: at the beginning. */
  at: nullable(recordOf(string)),
  /** The collection whose cards without a folder are listed last; null when a folder is listed. */
  rest: nullable(string),
});
type Cursor = Checked<typeof CURSOR>;

const unlessEnd = (cursor: Cursor): Cursor | null => (cursor.open.length === 0 && cursor.rest === null ? null : cursor);

/** Returns the kind of an entry in a folder's list. */
const kindOf = (member: Answer<GuruFolder | GuruCard>): Kind => (asText(member.type) === 'folder' ? 'folder' : 'card');

async function inFolder(client: SourceClient, cursor: Cursor): Promise<PageAt<Cursor>> {
  const { root, open, at } = cursor;
  const [first, ...rest] = open;
  if (first === undefined) return { items: [], next: null };
  let page: Awaited<ReturnType<typeof fetchPage<GuruFolder | GuruCard>>>;
  try {
    page = await fetchPage(client, ['folders', first.folder, 'items'], { ...WITH_DATES, ...at });
  } catch (error) {
    if (!isMissing(error)) throw error;
    // A collection always has its home folder. Without its contents, all cards would count as deleted.
    if (first.owner === root) throw incompleteAnswer('Guru', 'the contents of the collection');
    // This folder was deleted in the meantime: skip it, and continue with the others in `open`.
    return { items: [], next: unlessEnd({ ...cursor, open: rest, at: null }) };
  }
  const items = page.values.flatMap((member) => itemOf(kindOf(member), member, { parent: first.owner, root }) ?? []);
  const subfolders = items.flatMap(({ externalId }) => {
    const itemRef = parseItemId(externalId);
    return itemRef?.kind === 'folder' ? [{ folder: itemRef.id, owner: externalId }] : [];
  });
  const later = page.next === null ? [...subfolders, ...rest] : [first, ...subfolders, ...rest];
  return { items, next: unlessEnd({ ...cursor, open: later, at: page.next }) };
}

async function unfiledCards(client: SourceClient, cursor: Cursor): Promise<PageAt<Cursor>> {
  const { values, next } = await fetchPage<GuruCard>(client, ['search', 'query'], cursor.at ?? ALL_CARDS);
  const items = values.flatMap((card): SourceItem[] => {
    const isInCollection = asText(asAnswer<GuruCollection>(card.collection).id) === cursor.rest;
    const folders = card.boards;
    const item = itemOf('card', card, { parent: cursor.root, root: cursor.root });
    return isInCollection && !(Array.isArray(folders) && folders.length > 0) && item !== null ? [item] : [];
  });
  return { items, next: next === null ? null : unlessEnd({ ...cursor, at: next }) };
}

/** Returns the requested item itself, and the beginning of its contents. */
async function begin(client: SourceClient, { kind, id }: ItemRef): Promise<PageAt<Cursor>> {
  const list = kind === 'card' ? 'cards' : kind === 'folder' ? 'folders' : 'collections';
  const json = asAnswer<GuruCollection | GuruFolder | GuruCard>(await client.get([list, id], {}));
  const collection = asText(asAnswer<GuruCollection>(json.collection).id);
  const root =
    kind === 'collection' || collection === null ? null : externalIdOf({ kind: 'collection', id: collection });
  requireId('Guru', json, `the ${kind}`);
  // The answer for a single folder does not contain its parent folder, so the collection is used as its parent.
  const item = itemOf(kind, json, { parent: root, root });
  if (item === null) throw noSuchItem('Guru');
  if (kind === 'card') return { items: [item], next: null };
  // A slug is an id and a name, `iX4LdE4T/360-Reviews` (https://developer.getguru.com/docs/cards). Only the id is
  // accepted in a path.
  const home = kind === 'folder' ? id : (asText(json.homeBoardSlug)?.split('/', 1)[0] ?? null);
  // A collection always has its home folder. Without it, all cards in folders would count as deleted.
  if (home === null) throw incompleteAnswer('Guru', 'the home folder of the collection');
  const cursor: Cursor = {
    root: root ?? item.externalId,
    open: [{ folder: home, owner: item.externalId }],
    at: null,
    rest: kind === 'collection' ? id : null,
  };
  return { items: [item], next: unlessEnd(cursor) };
}

export const guru: Connector<GuruCredentials> = {
  about: {
    listed: 'collections, folders, cards',
    ingested: 'each card that is not archived; no attachments, no comments',
    unchangedBy: 'time of change',
    deletions: 'archived cards count as deleted',
    limits: 'a card in several folders is one item, whose parent is the folder that was listed last',
  },
  headers: ({ username, accessToken }) => ({
    authorization: `Basic ${Buffer.from(`${username}:${accessToken}`).toString('base64')}`,
  }),

  async identify(client) {
    const { username } = client.credentials;
    const me = asAnswer<GuruIdentity>(await client.get(['whoami'], {}));
    const team = asAnswer<GuruTeam>(me.team);
    const user = asAnswer<GuruUser>(me.user);
    const account = (asText(user.email) ?? asText(me.email) ?? username).trim().toLowerCase();
    const facts = { team_id: asText(team.id), team_name: asText(team.name) };
    return {
      account,
      metadata: { username, ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null)) },
    };
  },

  listRoots: withRootsCursor(recordOf(string), async (client: SourceClient, query) => {
    const { values, next } = await fetchPage<GuruCollection>(client, ['collections'], query ?? {});
    const items = values.flatMap((collection) => itemOf('collection', collection, { parent: null, root: null }) ?? []);
    return { items, next };
  }),

  listDescendants: withCursor(CURSOR, async (client: SourceClient, externalId: string, cursor) => {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw noSuchItem('Guru');
    if (cursor === null) return begin(client, itemRef);
    return cursor.open.length > 0 ? inFolder(client, cursor) : unfiledCards(client, cursor);
  }),

  async open(client, externalId) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw noSuchItem('Guru');
    if (itemRef.kind !== 'card') {
      await client.get([itemRef.kind === 'folder' ? 'folders' : 'collections', itemRef.id], {});
      throw new Fault('unsupported_type', 'This Guru item has no text of its own: sync the cards in it.');
    }
    const card = asAnswer<GuruCard>(await client.get(['cards', itemRef.id, 'extended'], {}));
    requireId('Guru', card, 'the card');
    if (card.archived === true) throw noSuchItem('Guru');
    return contentOf(card, externalId);
  },
};

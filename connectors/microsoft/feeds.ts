import { changeFeed, boolean, count, shapeOf, listOf, nullable, string, type Checked } from '../cursors.js';
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { ChangeFeed } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { GrantClient, SourceClient } from '../accountClient.js';
import type { Change, SourceItem } from '../sourceItem.js';
import { type GraphPage, isQuery, type Query } from './graph.js';

/** What has a feed of its own: a drive, a folder of mails. */
export interface FeedPlace {
  readonly id: string;
  /** What items need to know of it to say where they lie: the root folder of a drive, the outermost folder of mails. */
  readonly root: string;
}

/** A listed place with its own item, which no feed reports. */
export interface ListedPlace extends FeedPlace {
  readonly item: SourceItem;
}

/** How far the feed of a place was read. */
const readPlace = shapeOf({
  id: string,
  root: string,
  /** Fingerprint of its item, as last reported. */
  mark: string,
  /** Null: nothing was read, for it is new. */
  query: nullable(isQuery),
  /** Something in it changes without its feed telling so: then all is listed instead. */
  isBlind: boolean,
});
type ReadPlace = Checked<typeof readPlace>;

/** All places of an account, and the one whose page is next. */
const TOKEN = shapeOf({
  places: listOf(readPlace),
  at: count,
  /** Whether a pass has read a page already. */
  isUnderWay: boolean,
});

export interface Feeds {
  /** All places there are now. */
  list(client: GrantClient): Promise<readonly ListedPlace[]>;
  /** The page that ends with the point of now of one place. */
  begin(client: GrantClient, place: FeedPlace): Promise<GraphPage>;
  /** A page of one place's feed. @param query null: its first */
  page(client: GrantClient, place: FeedPlace, query: Query | null): Promise<GraphPage>;
  /** What a page tells. @param places all there are, by id */
  changes(
    client: SourceClient,
    page: GraphPage,
    place: FeedPlace,
    places: ReadonlyMap<string, FeedPlace>,
  ): Promise<readonly Change[]>;
  externalIdOf(place: FeedPlace): string;
  /** Whether a page has something whose changes are not told. Unset: none has. */
  isBlind?(page: GraphPage): boolean;
}

const stale = (): Fault =>
  new Fault('stale_cursor', 'Microsoft no longer has the changes since the last sync. Everything is listed again.');

const markOf = (item: SourceItem): string =>
  createHash('sha256').update(JSON.stringify(item)).digest('base64url').slice(0, 16);

/** A place with a page of its feed read. */
function behind(feeds: Feeds, place: ReadPlace, page: GraphPage): ReadPlace {
  const goesOn = page.next ?? page.delta;
  if (goesOn === null)
    throw new Fault(
      'server_error',
      'Microsoft told changes without a point to go on from. It is tried again by itself.',
    );
  return { ...place, query: goesOn, isBlind: place.isBlind || feeds.isBlind?.(page) === true };
}

/** Compares the places with those of the last sync; new ones are read completely. */
function compare(
  feeds: Feeds,
  before: readonly ReadPlace[],
  now: readonly ListedPlace[],
): { readonly places: readonly ReadPlace[]; readonly changes: readonly Change[] } {
  const known = new Map(before.map((one) => [one.id, one]));
  const changes: Change[] = [];
  const places = now.map(({ item, ...place }): ReadPlace => {
    const mark = markOf(item);
    const last = known.get(place.id);
    known.delete(place.id);
    if (last?.mark !== mark) changes.push({ item });
    return { ...place, mark, query: last?.query ?? null, isBlind: false };
  });
  return { places, changes: [...[...known.values()].map((one) => ({ gone: feeds.externalIdOf(one) })), ...changes] };
}

/** The feeds of all places of an account as one: each is read to its end after the other. */
export function joinFeeds(feeds: Feeds): ChangeFeed<OAuthGrant> {
  /** Returns a page of one feed; null if its place no longer exists. */
  const takeStep = async (
    client: GrantClient,
    { place, places }: { readonly place: ReadPlace; readonly places: readonly ReadPlace[] },
  ): Promise<{ readonly changes: readonly Change[]; readonly place: ReadPlace; readonly isRead: boolean } | null> => {
    try {
      const page = await feeds.page(client, place, place.query);
      const byId = new Map(places.map((one) => [one.id, one]));
      const changes = await feeds.changes(client, page, place, byId);
      return { changes, place: behind(feeds, place, page), isRead: page.next === null };
    } catch (error) {
      if (error instanceof Fault && error.kind === 'not_found') return null;
      throw error;
    }
  };

  return changeFeed(TOKEN, {
    async now(client) {
      const places: ReadPlace[] = [];
      for (const { item, ...place } of await feeds.list(client)) {
        const page = await feeds.begin(client, place);
        places.push(behind(feeds, { ...place, mark: markOf(item), query: null, isBlind: false }, page));
      }
      return { places, at: 0, isUnderWay: false };
    },

    async since(client, before) {
      let { places } = before;
      const changes: Change[] = [];
      if (!before.isUnderWay) {
        if (places.some(({ isBlind }) => isBlind)) throw stale();
        const now = compare(feeds, places, await feeds.list(client));
        ({ places } = now);
        changes.push(...now.changes);
      }
      const at = before.isUnderWay ? before.at : 0;
      const place = places[at];
      let next = at + 1;
      if (place !== undefined) {
        const step = await takeStep(client, { place, places });
        changes.push(...(step?.changes ?? [{ gone: feeds.externalIdOf(place) }]));
        places = places.toSpliced(at, 1, ...(step === null ? [] : [step.place]));
        if (step?.isRead !== true) next = at;
      }
      const more = next < places.length;
      return {
        changes,
        next: { places, at: more ? next : 0, isUnderWay: more },
        more,
      };
    },
  });
}

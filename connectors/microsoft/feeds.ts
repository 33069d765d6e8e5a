import { changeFeed, boolean, count, shapeOf, listOf, nullable, string, type Checked } from '../cursors.js';
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { ChangeFeed } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { GrantClient, SourceClient } from '../accountClient.js';
import type { Change, SourceItem } from '../sourceItem.js';
import { type GraphPage, isQuery, type Query } from './graph.js';

/** A place with a change feed of its own: a drive or a mail folder. */
export interface FeedPlace {
  readonly id: string;
  /**
   * For a drive, the id of its root folder: items in that folder get the drive as their parent. For a mail folder, the
   * id of the outermost folder that contains it, or its own id at the top level: the root of its messages
   * (`rootExternalId`).
   */
  readonly root: string;
}

/** A listed place with its own item, which the feed does not include. */
export interface ListedPlace extends FeedPlace {
  readonly item: SourceItem;
}

/** Position in the feed of a place. */
const readPlace = shapeOf({
  id: string,
  root: string,
  /** Fingerprint of the place's item when it was last reported. */
  mark: string,
  /** The next page; null: the place is new and was not read yet. */
  query: nullable(isQuery),
  /** Whether the feed omits some changes in this place: then everything is listed instead. */
  isBlind: boolean,
});
type ReadPlace = Checked<typeof readPlace>;

/** All places of an account, and the index of the one to read next. */
const CHANGE_TOKEN = shapeOf({
  places: listOf(readPlace),
  at: count,
  /** Whether this sync has already read a page. */
  isUnderWay: boolean,
});

export interface Feeds {
  /** Returns all current places. */
  list(client: GrantClient): Promise<readonly ListedPlace[]>;
  /** Returns a page with the current cursor of a place's feed. Unset: `page` reads the whole feed to get the cursor. */
  latest?(client: GrantClient, place: FeedPlace): Promise<GraphPage>;
  /** Returns a page of a place's feed. @param query null: the first page */
  page(client: GrantClient, place: FeedPlace, query: Query | null): Promise<GraphPage>;
  /** Converts a page to changes. @param places all places, by id */
  changes(
    client: SourceClient,
    page: GraphPage,
    place: FeedPlace,
    places: ReadonlyMap<string, FeedPlace>,
  ): Promise<readonly Change[]>;
  externalIdOf(place: FeedPlace): string;
  /** Whether a page contains items whose changes the feed omits. Unset: never. */
  omitsChanges?(page: GraphPage): boolean;
}

const stale = (): Fault =>
  new Fault('stale_cursor', 'Microsoft no longer has the changes since the last sync. Everything is listed again.');

const markOf = (item: SourceItem): string =>
  createHash('sha256').update(JSON.stringify(item)).digest('base64url').slice(0, 16);

/** Returns a place with its position after a page of its feed. */
function placeAfterPage(feeds: Feeds, place: ReadPlace, page: GraphPage): ReadPlace {
  const nextQuery = page.next ?? page.delta;
  if (nextQuery === null)
    throw new Fault(
      'server_error',
      'Microsoft returned changes without a next cursor. The request is retried automatically.',
    );
  return { ...place, query: nextQuery, isBlind: place.isBlind || feeds.omitsChanges?.(page) === true };
}

/** Compares the places with those of the last sync; new ones are read completely. */
function comparePlaces(
  feeds: Feeds,
  before: readonly ReadPlace[],
  now: readonly ListedPlace[],
): { readonly places: readonly ReadPlace[]; readonly changes: readonly Change[] } {
  const placesById = new Map(before.map((place) => [place.id, place]));
  const changes: Change[] = [];
  const places = now.map(({ item, ...place }): ReadPlace => {
    const mark = markOf(item);
    const last = placesById.get(place.id);
    placesById.delete(place.id);
    if (last?.mark !== mark) changes.push({ item });
    return { ...place, mark, query: last?.query ?? null, isBlind: false };
  });
  return {
    places,
    changes: [...[...placesById.values()].map((removed) => ({ gone: feeds.externalIdOf(removed) })), ...changes],
  };
}

/** Joins the feeds of all places of an account into one, which reads them one after the other. */
export function joinFeeds(feeds: Feeds): ChangeFeed<OAuthGrant> {
  /** Returns a page of one feed; null if its place no longer exists. */
  const readStep = async (
    client: GrantClient,
    { place, places }: { readonly place: ReadPlace; readonly places: readonly ReadPlace[] },
  ): Promise<{ readonly changes: readonly Change[]; readonly place: ReadPlace; readonly isRead: boolean } | null> => {
    try {
      const page = await feeds.page(client, place, place.query);
      const byId = new Map(places.map((stored) => [stored.id, stored]));
      const changes = await feeds.changes(client, page, place, byId);
      return { changes, place: placeAfterPage(feeds, place, page), isRead: page.next === null };
    } catch (error) {
      if (error instanceof Fault && error.kind === 'not_found') return null;
      throw error;
    }
  };

  return changeFeed(CHANGE_TOKEN, {
    async now(client) {
      const places = (await feeds.list(client)).map(({ item, ...place }): ReadPlace => ({
        ...place,
        mark: markOf(item),
        query: null,
        isBlind: false,
      }));
      return { places, at: 0, isUnderWay: false };
    },

    async prepare(client, { places, at }) {
      const place = places[at];
      if (place === undefined) return { next: { places, at: 0, isUnderWay: false }, more: false };
      let remaining: readonly ReadPlace[];
      let next = at + 1;
      try {
        const page = await (feeds.latest?.(client, place) ?? feeds.page(client, place, place.query));
        remaining = places.toSpliced(at, 1, placeAfterPage(feeds, place, page));
        if (page.next !== null) next = at;
      } catch (error) {
        if (!(error instanceof Fault) || error.kind !== 'not_found') throw error;
        // The place was removed meanwhile.
        remaining = places.toSpliced(at, 1);
        next = at;
      }
      const more = next < remaining.length;
      return { next: { places: remaining, at: more ? next : 0, isUnderWay: false }, more };
    },

    async since(client, before) {
      let { places } = before;
      const changes: Change[] = [];
      if (!before.isUnderWay) {
        if (places.some(({ isBlind }) => isBlind)) throw stale();
        const now = comparePlaces(feeds, places, await feeds.list(client));
        ({ places } = now);
        changes.push(...now.changes);
      }
      const at = before.isUnderWay ? before.at : 0;
      const place = places[at];
      let next = at + 1;
      if (place !== undefined) {
        const step = await readStep(client, { place, places });
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

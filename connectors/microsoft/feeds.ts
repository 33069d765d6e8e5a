import { Fault } from '../../contract/failures.js';
import type { Change, ChangeFeed, OAuthGrant, SourceClient } from '../connector.js';
import type { GraphPage, Query } from './graph.js';

/** What has a feed of its own: a drive, a folder of mails. */
export interface FeedPlace {
  readonly id: string;
  /** What items need to know of it to say where they lie: the root folder of a drive, the outermost folder of mails. */
  readonly root: string;
}

/** How far the feed of a place was read; null: nothing of it, for it is new. */
type ReadPlace = FeedPlace & { readonly query: Query | null };

/** All places of an account, and the one whose page is next. */
interface Point {
  readonly places: readonly ReadPlace[];
  readonly at: number;
  /** Whether a pass has read a page already. */
  readonly isUnderWay: boolean;
}

export interface Feeds {
  /** All places there are now. */
  list(client: SourceClient, grant: OAuthGrant, signal: AbortSignal): Promise<readonly FeedPlace[]>;
  /** The point of now of one place; null where Graph tells none. */
  begin(client: SourceClient, place: FeedPlace, signal: AbortSignal): Promise<Query | null>;
  /** A page of one place's feed. @param query null: its first */
  page(client: SourceClient, place: FeedPlace, query: Query | null, signal: AbortSignal): Promise<GraphPage>;
  /** What a page tells. @param places all there are, by id */
  changes(
    client: SourceClient,
    page: GraphPage,
    place: FeedPlace,
    places: ReadonlyMap<string, FeedPlace>,
    signal: AbortSignal,
  ): Promise<readonly Change[]>;
  externalIdOf(place: FeedPlace): string;
}

const stale = (): Fault =>
  new Fault('stale_cursor', 'Microsoft no longer knows what changed since the last look. All is listed.');

function read(point: string): Point {
  try {
    const found = JSON.parse(point) as Partial<Point>;
    if (Array.isArray(found.places) && Number.isSafeInteger(found.at)) return found as Point;
  } catch {
    // It is none of ours.
  }
  throw stale();
}

/** A page of one feed; null where its place is not there any more. */
async function takeStep(
  feeds: Feeds,
  client: SourceClient,
  { place, places }: { readonly place: ReadPlace; readonly places: readonly ReadPlace[] },
  signal: AbortSignal,
): Promise<{ readonly changes: readonly Change[]; readonly query: Query; readonly isRead: boolean } | null> {
  try {
    const page = await feeds.page(client, place, place.query, signal);
    const query = page.next ?? page.delta;
    if (query === null) throw stale();
    const byId = new Map(places.map((one) => [one.id, one]));
    const changes = await feeds.changes(client, page, place, byId, signal);
    return { changes, query, isRead: page.next === null };
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return null;
    throw error;
  }
}

/** The feeds of all places of an account as one: each is read to its end after the other. */
export function joinFeeds(feeds: Feeds): ChangeFeed<OAuthGrant> {
  return {
    async now(client, grant, signal) {
      const places: ReadPlace[] = [];
      for (const place of await feeds.list(client, grant, signal)) {
        const query = await feeds.begin(client, place, signal);
        if (query === null)
          throw new Fault('server_error', 'Microsoft gave no point of now. It is tried again by itself.');
        places.push({ ...place, query });
      }
      return JSON.stringify({ places, at: 0, isUnderWay: false } satisfies Point);
    },

    async since(client, grant, point, signal) {
      const before = read(point);
      let { places } = before;
      const changes: Change[] = [];
      if (!before.isUnderWay) {
        // Those that came since the last pass are read whole.
        const known = new Map(places.map((one) => [one.id, one]));
        const now = await feeds.list(client, grant, signal);
        places = now.map((place) => ({ ...place, query: known.get(place.id)?.query ?? null }));
        for (const { id } of now) known.delete(id);
        changes.push(...[...known.values()].map((place) => ({ gone: feeds.externalIdOf(place) })));
      }
      const at = before.isUnderWay ? before.at : 0;
      const place = places[at];
      let next = at + 1;
      if (place !== undefined) {
        const step = await takeStep(feeds, client, { place, places }, signal);
        changes.push(...(step?.changes ?? [{ gone: feeds.externalIdOf(place) }]));
        places = places.toSpliced(at, 1, ...(step === null ? [] : [{ ...place, query: step.query }]));
        if (step?.isRead !== true) next = at;
      }
      const more = next < places.length;
      return {
        changes,
        next: JSON.stringify({ places, at: more ? next : 0, isUnderWay: more } satisfies Point),
        more,
      };
    },
  };
}

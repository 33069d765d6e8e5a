/** Each connected source as the catalogue suite takes it: its emulator, and how a caller connects to it. */
import type { ConnectedSourceType } from '../../contract/sources.js';
import { startGitBook, TOKEN } from '../emulators/gitbook.js';
import type { Answer, TestUser } from './client.js';

/** The same content at every source: containers, one with things in things. Ids are the source's own. */
export interface StandContent {
  /** Outermost containers, in three pages of listings or more. */
  readonly containers: readonly string[];
  /** In the first container. */
  readonly lighthouse: string;
  /** Below the lighthouse. */
  readonly keeper: string;
  /** One in each further container. */
  readonly others: readonly string[];
  /** Of everything that is listed. */
  readonly items: number;
}

export interface SourceStand {
  /** Its part of SOURCE_URLS. */
  readonly settings: string;
  /** What its user hands over, and must be found nowhere. */
  readonly secret: string;
  /** The external id of its data source. */
  readonly externalId: string;
  /** Puts the content of the catalogue there, and mends whatever went wrong. @param more documents in the first container */
  reset(more?: number): StandContent;
  connect(user: TestUser, body?: Record<string, unknown>): Promise<Answer<unknown>>;
  /** The same with credentials that nobody has. */
  connectAsNobody(user: TestUser): Promise<Answer<unknown>>;
  write(externalId: string, text: string): void;
  remove(externalId: string): void;
  /** Answers the next requests with 429. */
  limit(requests: number): void;
  /** Answers requests for the content of one item with a status. */
  breakItem(externalId: string, status: number): void;
  /** Leaves whatever is asked from now on without an answer. */
  hold(): void;
  /** No longer takes the credentials. */
  takeBack(): void;
  /** Listings of outermost containers that were asked for since the reset. */
  pagesListed(): number;
  /** Requests that were under way at once at most. */
  mostAtOnce(): number;
  close(): Promise<void>;
}

export const LIGHTHOUSE = 'The lighthouse was lit in 1901.';
export const KEEPER = 'Its keeper was called Aurelia.';

async function standForGitBook(): Promise<SourceStand> {
  const emulator = await startGitBook();
  const { spaces } = emulator;
  const pageOf = (externalId: string) => {
    const [space = '', page = ''] = externalId.split('/');
    const lookIn = (pages: NonNullable<(typeof spaces)[string]>['pages']): typeof pages | null => {
      if (Object.hasOwn(pages, page)) return pages;
      for (const { pages: below } of Object.values(pages)) {
        const found = below && lookIn(below);
        if (found) return found;
      }
      return null;
    };
    return { pages: lookIn(spaces[space]?.pages ?? {}) ?? {}, page };
  };
  return {
    settings: emulator.settings,
    secret: TOKEN,
    externalId: 'GITBOOK|harbour-org',
    reset(more = 0) {
      for (const id of Object.keys(spaces)) delete spaces[id];
      for (const id of ['atlas', 'boats', 'crews', 'docks', 'eels'])
        spaces[id] = { title: `Space ${id}`, pages: { [`${id}-1`]: { title: `About ${id}`, text: `On ${id}.` } } };
      spaces['atlas'] = {
        title: 'Space atlas',
        pages: {
          sights: {
            type: 'group',
            title: 'Sights',
            pages: {
              lighthouse: {
                title: 'Lighthouse',
                text: LIGHTHOUSE,
                pages: { keeper: { title: 'Keeper', text: KEEPER } },
              },
              away: { type: 'link', title: 'Elsewhere' },
            },
          },
          ...Object.fromEntries(
            Array.from({ length: more }, (_, index) => [
              `m${index}`,
              { title: `More ${index}`, text: `More, ${index}.` },
            ]),
          ),
        },
      };
      emulator.misbehave(() => null);
      emulator.tokens.set(TOKEN, 'harbour-org');
      emulator.requests.length = 0;
      emulator.load.most = 0;
      return {
        containers: Object.keys(spaces),
        lighthouse: 'atlas/lighthouse',
        keeper: 'atlas/keeper',
        others: ['boats/boats-1', 'crews/crews-1', 'docks/docks-1', 'eels/eels-1'],
        items: 13 + more,
      };
    },
    connect: (user, body = {}) =>
      user.post('/integrations/gitbook', { organization: 'harbour-org', access_token: TOKEN, ...body }),
    connectAsNobody: (user) =>
      user.post('/integrations/gitbook', { organization: 'harbour-org', access_token: 'gb_api_nobody' }),
    write(externalId, text) {
      const { pages, page } = pageOf(externalId);
      pages[page]!.text = text;
    },
    remove(externalId) {
      const { pages, page } = pageOf(externalId);
      delete pages[page];
    },
    limit(requests) {
      let left = requests;
      emulator.misbehave(() => (left-- > 0 ? { status: 429, headers: { 'retry-after': '0' } } : null));
    },
    breakItem(externalId, status) {
      const { page } = pageOf(externalId);
      emulator.misbehave((path) => (path.endsWith(`/page/${page}`) ? { status } : null));
    },
    hold: () => emulator.misbehave(() => 'hang'),
    takeBack: () => void emulator.tokens.delete(TOKEN),
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/v1/orgs/harbour-org/spaces')).length,
    mostAtOnce: () => emulator.load.most,
    close: () => emulator.close(),
  };
}

export const SOURCE_STANDS: Readonly<Record<ConnectedSourceType, () => Promise<SourceStand>>> = {
  GITBOOK: standForGitBook,
};

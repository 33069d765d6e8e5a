import { nextRequests } from '../../emulators/emulator.js';
import { startGitBook, TOKEN } from '../../emulators/gitbook.js';
import {
  CONTAINERS,
  KEEPER_SENTENCE,
  LIGHTHOUSE,
  moreDocuments,
  OTHERS,
  type SourceFixture,
  fixtureOn,
} from './fixture.js';

export async function fixtureForGitBook(): Promise<SourceFixture> {
  const emulator = await startGitBook();
  const { spaces } = emulator;
  const pageOf = (externalId: string) => {
    const [space = '', page = ''] = externalId.split('/');
    const findIn = (pages: NonNullable<(typeof spaces)[string]>['pages']): typeof pages | null => {
      if (Object.hasOwn(pages, page)) return pages;
      for (const { pages: below } of Object.values(pages)) {
        const found = below && findIn(below);
        if (found) return found;
      }
      return null;
    };
    return { pages: findIn(spaces[space]?.pages ?? {}) ?? {}, page };
  };
  return {
    ...fixtureOn(emulator),
    settings: emulator.settings,
    secret: TOKEN,
    externalId: 'GITBOOK|harbour-org',
    reset(more = 0) {
      for (const id of Object.keys(spaces)) delete spaces[id];
      for (const id of CONTAINERS)
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
                pages: { keeper: { title: 'Keeper', text: KEEPER_SENTENCE } },
              },
              away: { type: 'link', title: 'Elsewhere' },
            },
          },
          // Computed pages are not listed as items.
          interface: { type: 'computed', title: 'Interface' },
          ...Object.fromEntries(moreDocuments(more, (name, text) => [name, { title: `More ${name}`, text }])),
        },
      };
      emulator.reset();
      emulator.tokens.set(TOKEN, 'harbour-org');
      return {
        containers: Object.keys(spaces),
        lighthouse: 'atlas/lighthouse',
        keeper: 'atlas/keeper',
        branch: 'atlas/lighthouse',
        others: OTHERS.map((id) => `${id}/${id}-1`),
        items: 13 + more,
      };
    },
    connect: (user, body = {}) =>
      user.post('/integrations/gitbook', { organization: 'harbour-org', access_token: TOKEN, ...body }),
    connectWithInvalidCredentials: (user) =>
      user.post('/integrations/gitbook', { organization: 'harbour-org', access_token: 'gb_api_nobody' }),
    write(externalId, text) {
      const { pages, page } = pageOf(externalId);
      pages[page]!.text = text;
    },
    remove(externalId) {
      const { pages, page } = pageOf(externalId);
      delete pages[page];
    },
    limit(requests, retryAfterS = 0) {
      emulator.injectFault(
        nextRequests(requests, () => ({ status: 429, headers: { 'retry-after': String(retryAfterS) } })),
      );
    },
    breakItem(externalId, status) {
      const { page } = pageOf(externalId);
      emulator.injectFault((path) => (path.endsWith(`/page/${page}`) ? { status } : null));
    },
    contentRequests: (externalId) =>
      emulator.requests.filter((path) => path.includes(`/page/${pageOf(externalId).page}?`)).length,
    revokeAccess: () => void emulator.tokens.delete(TOKEN),
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/v1/orgs/harbour-org/spaces')).length,
  };
}

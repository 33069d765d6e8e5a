import {
  type Document360Emulator,
  type EmulatedArticle,
  startDocument360,
  TOKEN,
} from '../../emulators/document360.js';
import { nextRequests } from '../../emulators/emulator.js';
import {
  CONTAINERS,
  KEEPER_SENTENCE,
  LIGHTHOUSE,
  moreDocuments,
  OTHERS,
  type SourceFixture,
  fixtureOn,
} from './fixture.js';

/** A fixture that also exposes its emulator, for tests of behaviour that only this source has. */
export type Document360Fixture = SourceFixture & { readonly emulator: Document360Emulator };

export async function fixtureForDocument360(): Promise<Document360Fixture> {
  const emulator = await startDocument360();
  const { workspaces, tokens } = emulator;
  const idOf = (externalId: string): string => externalId.slice(externalId.indexOf(':') + 1);
  const articlesWith = (id: string): Record<string, EmulatedArticle> =>
    [...workspaces.values()]
      .flatMap(({ categories }) => Object.values(categories))
      .flatMap((category) => [category, ...Object.values(category.categories ?? {})])
      .map(({ articles = {} }) => articles)
      .find((articles) => Object.hasOwn(articles, id))!;
  const article = (title: string, text: string): EmulatedArticle => ({ title, html: `<p>${text}</p>` });
  const connect: SourceFixture['connect'] = (user, body = {}) =>
    user.post('/integrations/document360', { account_email: 'Ada@harbour.example', access_token: TOKEN, ...body });
  return {
    emulator,
    ...fixtureOn(emulator),
    settings: emulator.settings,
    secret: TOKEN,
    externalId: 'DOCUMENT360|ada@harbour.example|atlas',
    reset(more = 0) {
      workspaces.clear();
      workspaces.set('atlas', {
        name: 'Workspace atlas',
        categories: {
          sights: {
            name: 'Sights',
            articles: { lighthouse: article('Lighthouse', LIGHTHOUSE) },
            categories: { people: { name: 'People', articles: { keeper: article('Keeper', KEEPER_SENTENCE) } } },
          },
          more: {
            name: 'More',
            articles: Object.fromEntries(moreDocuments(more, (name, text) => [name, article(name, text)])),
          },
        },
      });
      for (const name of OTHERS)
        workspaces.set(name, {
          name: `Workspace ${name}`,
          categories: {
            [`c-${name}`]: { name: 'All', articles: { [`a-${name}`]: article(`On ${name}`, `On ${name}.`) } },
          },
        });
      emulator.reset();
      tokens.add(TOKEN);
      return {
        containers: [...CONTAINERS],
        lighthouse: 'atlas/article:lighthouse',
        keeper: 'atlas/article:keeper',
        branch: 'atlas/category:sights',
        others: OTHERS.map((name) => `${name}/article:a-${name}`),
        items: 18 + more,
      };
    },
    connect,
    connectWithInvalidCredentials: (user) => connect(user, { access_token: 'nobody' }),
    write(externalId, text) {
      const id = idOf(externalId);
      const edited = articlesWith(id)[id]!;
      edited.html = `<p>${text}</p>`;
      edited.published = (edited.published ?? 1) + 1;
    },
    remove(externalId) {
      const id = idOf(externalId);
      delete articlesWith(id)[id];
    },
    limit(requests, retryAfterS = 0) {
      emulator.injectFault(
        nextRequests(requests, () => ({ status: 429, headers: { 'retry-after': String(retryAfterS) } })),
      );
    },
    breakItem(externalId, status) {
      emulator.injectFault((path) => (path.startsWith(`/v2/Articles/${idOf(externalId)}/`) ? { status } : null));
    },
    contentRequests: (externalId) =>
      emulator.requests.filter((path) => path.startsWith(`/v2/Articles/${idOf(externalId)}/`)).length,
    revokeAccess: () => void tokens.delete(TOKEN),
    // One request returns all workspaces, so this counts the requests for their categories.
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/v2/ProjectVersions/')).length,
  };
}

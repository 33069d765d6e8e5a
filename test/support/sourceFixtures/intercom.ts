import { nextRequests } from '../../emulators/emulator.js';
import { type IntercomEmulator, startIntercom, WORKSPACE } from '../../emulators/intercom.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
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
export type IntercomFixture = SourceFixture & { readonly emulator: IntercomEmulator };

export async function fixtureForIntercom(): Promise<IntercomFixture> {
  const emulator = await startIntercom();
  const { collections, articles, conversations, tickets } = emulator;
  const numberOf = (externalId: string): number => Number(externalId.split(':')[1]);
  return {
    ...fixtureOn(emulator),
    ...fixtureByConsent('INTERCOM', emulator),
    emulator,
    get secret() {
      return lastToken(emulator.oauth);
    },
    settings: emulator.settings,
    externalId: `INTERCOM|${WORKSPACE}`,
    reset(more = 0) {
      for (const records of [collections, articles, conversations, tickets]) records.clear();
      for (const [at, name] of CONTAINERS.entries()) collections.set(at + 1, { name });
      for (const [at, name] of OTHERS.entries())
        articles.set(at + 200, { collection: at + 2, title: `About ${name}`, body: `<p>On ${name}.</p>` });
      collections.set(10, { name: 'Sights', parentId: 1 });
      collections.set(11, { name: 'People', parentId: 10 });
      articles.set(100, { collection: 10, title: 'Lighthouse', body: `<p>${LIGHTHOUSE}</p>` });
      articles.set(101, { collection: 11, title: 'Keeper', body: `<p>${KEEPER_SENTENCE}</p>` });
      articles.set(102, { collection: 10, title: 'Draft', body: '<p>Not yet.</p>', draft: true });
      articles.set(103, { collection: null, title: 'Loose', body: '<p>On nothing.</p>' });
      conversations.set(300, { title: 'Tides', parts: [{ text: 'On tides.' }] });
      tickets.set(400, { title: 'Piers', parts: [{ text: 'On piers.' }] });
      for (const [at, [title, text]] of moreDocuments(more, (name, body) => [name, body] as const).entries())
        articles.set(1_000 + at, { collection: 1, title, body: `<p>${text}</p>` });
      emulator.reset();
      emulator.fileStatus = null;
      return {
        containers: [...CONTAINERS.map((_, at) => `collection:${at + 1}`), 'articles', 'conversations', 'tickets'],
        lighthouse: 'article:100',
        keeper: 'article:101',
        branch: 'collection:10',
        others: [...OTHERS.map((_, at) => `article:${at + 200}`), 'article:103', 'conversation:300', 'ticket:400'],
        items: 19 + more,
      };
    },
    write(externalId, text) {
      const article = articles.get(numberOf(externalId))!;
      article.body = `<p>${text}</p>`;
      article.updated = (article.updated ?? 1_772_532_000) + 60;
    },
    remove: (externalId) => void articles.delete(numberOf(externalId)),
    limit(requests, retryAfterS = 0) {
      // Alternates between the common header Retry-After and Intercom's own.
      const waits = (number: number): Record<string, string> =>
        number % 2 === 0
          ? { 'retry-after': String(retryAfterS) }
          : { 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + retryAfterS) };
      emulator.injectFault(
        nextRequests(requests, (number) => ({
          status: 429,
          headers: retryAfterS === 0 ? { 'retry-after': '0' } : waits(number),
        })),
      );
    },
    breakItem(externalId, status) {
      emulator.injectFault((path) => (path === `/articles/${numberOf(externalId)}` ? { status } : null));
    },
    contentRequests: (externalId) => {
      const [kind, id] = externalId.split(':');
      return emulator.requests.filter((path) => path.split('?')[0] === `/${kind}s/${id}`).length;
    },
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/help_center/collections?')).length,
  };
}

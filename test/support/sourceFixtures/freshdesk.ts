import { nextRequests } from '../../emulators/emulator.js';
import {
  FRESHDESK_DOMAIN,
  FRESHDESK_KEY,
  type FreshdeskEmulator,
  newFreshdeskAccount,
  startFreshdesk,
} from '../../emulators/freshdesk.js';
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
export type FreshdeskFixture = SourceFixture & { readonly emulator: FreshdeskEmulator };

const idOf = (id: string): string => `${FRESHDESK_DOMAIN}/${id}`;

export async function fixtureForFreshdesk(): Promise<FreshdeskFixture> {
  const emulator = await startFreshdesk();
  const numberOf = (externalId: string): number => Number(externalId.split(':')[1]);
  const articles = () => emulator.accounts.get(FRESHDESK_DOMAIN)!.articles;
  const connect: SourceFixture['connect'] = (user, body = {}) =>
    user.post('/integrations/freshdesk', { domain: FRESHDESK_DOMAIN, api_key: FRESHDESK_KEY, ...body });
  return {
    ...fixtureOn(emulator),
    emulator,
    settings: emulator.settings,
    secret: FRESHDESK_KEY,
    externalId: `FRESHDESK|${FRESHDESK_DOMAIN}`,
    connect,
    connectWithInvalidCredentials: (user) => connect(user, { api_key: 'fd-key-nobody' }),
    reset(more = 0) {
      const account = newFreshdeskAccount();
      emulator.accounts.clear();
      emulator.accounts.set(FRESHDESK_DOMAIN, account);
      for (const [at, name] of CONTAINERS.entries()) account.categories.set(at + 1, name);
      for (const [at, name] of OTHERS.entries()) {
        account.folders.set(at + 20, { category: at + 2, name: `Folder ${name}` });
        account.articles.set(at + 200, { folder: at + 20, title: `About ${name}`, body: `<p>On ${name}.</p>` });
      }
      account.folders.set(10, { category: 1, name: 'Sights' });
      account.folders.set(11, { category: 1, parentId: 10, name: 'People' });
      account.folders.set(12, { category: 1, name: 'More' });
      account.articles.set(100, { folder: 10, title: 'Lighthouse', body: `<p>${LIGHTHOUSE}</p>` });
      account.articles.set(101, { folder: 11, title: 'Keeper', body: `<p>${KEEPER_SENTENCE}</p>` });
      // Drafts and deleted tickets are not listed.
      account.articles.set(102, { folder: 10, title: 'Draft', body: '<p>Not yet.</p>', draft: true });
      account.tickets.set(300, { subject: 'About tides', text: 'On tides.' });
      account.tickets.set(301, { subject: 'Deleted', text: 'Gone.', deleted: true });
      for (const [at, [title, text]] of moreDocuments(more, (name, body) => [name, body] as const).entries())
        account.articles.set(1_000 + at, { folder: 12, title, body: `<p>${text}</p>` });
      emulator.reset();
      emulator.keys.add(FRESHDESK_KEY);
      return {
        containers: [...[...account.categories.keys()].map((id) => `category:${id}`), 'tickets'].map(idOf),
        lighthouse: idOf('article:100'),
        keeper: idOf('article:101'),
        branch: idOf('folder:10'),
        others: [...OTHERS.map((_, at) => `article:${at + 200}`), 'ticket:300'].map(idOf),
        items: 20 + more,
      };
    },
    write(externalId, text) {
      const article = articles().get(numberOf(externalId))!;
      article.body = `<p>${text}</p>`;
      // Freshdesk's times are in whole seconds: a second change within the same second would not change the time.
      const time = Math.max(Date.now(), Date.parse(article.updated ?? '2026-01-01') + 1000);
      article.updated = new Date(time).toISOString().replace(/\.\d+/, '');
    },
    remove: (externalId) => void articles().delete(numberOf(externalId)),
    limit(requests, retryAfterS = 0) {
      emulator.injectFault(
        nextRequests(requests, () => ({ status: 429, headers: { 'retry-after': String(retryAfterS) } })),
      );
    },
    breakItem(externalId, status) {
      emulator.injectFault((path) =>
        path.endsWith(`/solutions/articles/${numberOf(externalId)}`) ? { status } : null,
      );
    },
    contentRequests(externalId) {
      const path = externalId.includes('ticket:') ? '/tickets/' : '/solutions/articles/';
      return emulator.requests.filter((request) => request.split('?')[0]?.endsWith(`${path}${numberOf(externalId)}`))
        .length;
    },
    revokeAccess: () => void emulator.keys.delete(FRESHDESK_KEY),
    pagesListed: () => emulator.requests.filter((path) => path.includes('/solutions/categories?')).length,
  };
}

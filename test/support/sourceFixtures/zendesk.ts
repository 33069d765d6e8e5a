import { nextRequests } from '../../emulators/emulator.js';
import { newZendeskAccount, startZendesk, type ZendeskEmulator } from '../../emulators/zendesk.js';
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
export type ZendeskFixture = SourceFixture & { readonly emulator: ZendeskEmulator };

export const ZENDESK_SUBDOMAIN = 'harbour';

const idOf = (id: string): string => `${ZENDESK_SUBDOMAIN}/${id}`;

export async function fixtureForZendesk(): Promise<ZendeskFixture> {
  const emulator = await startZendesk();
  const byConsent = fixtureByConsent('ZENDESK', emulator);
  const numberOf = (externalId: string): number => Number(externalId.split(':')[1]);
  const account = () => emulator.accounts.get(ZENDESK_SUBDOMAIN)!;
  return {
    ...fixtureOn(emulator),
    ...byConsent,
    emulator,
    connect: (user, body = {}) => byConsent.connect(user, { zendesk_subdomain: ZENDESK_SUBDOMAIN, ...body }),
    async connectWithInvalidCredentials(user) {
      // Zendesk rejects the new token.
      emulator.injectFault(() => ({ status: 401 }));
      const answer = await byConsent.connect(user, { zendesk_subdomain: ZENDESK_SUBDOMAIN });
      emulator.reset();
      return answer;
    },
    get secret() {
      return lastToken(emulator.oauth);
    },
    settings: emulator.settings,
    externalId: `ZENDESK|ada@harbour.example|${ZENDESK_SUBDOMAIN}`,
    reset(more = 0) {
      const { categories, sections, articles, tickets } = newZendeskAccount();
      emulator.accounts.clear();
      emulator.accounts.set(ZENDESK_SUBDOMAIN, { categories, sections, articles, tickets });
      for (const [at, name] of CONTAINERS.entries()) categories.set(at + 1, name);
      for (const [at, name] of OTHERS.entries()) {
        sections.set(at + 20, { category: at + 2, name: `Section ${name}` });
        articles.set(at + 200, { section: at + 20, title: `About ${name}`, body: `<p>On ${name}.</p>` });
      }
      sections.set(10, { category: 1, name: 'Sights' });
      sections.set(11, { category: 1, parent: 10, name: 'People' });
      sections.set(12, { category: 1, name: 'More' });
      articles.set(100, { section: 10, title: 'Lighthouse', body: `<p>${LIGHTHOUSE}</p>` });
      articles.set(101, { section: 11, title: 'Keeper', body: `<p>${KEEPER_SENTENCE}</p>` });
      // Drafts and deleted tickets are not listed.
      articles.set(102, { section: 10, title: 'Draft', body: '<p>Not yet.</p>', draft: true });
      for (const [at, [name, body]] of moreDocuments(more, (title, text) => [title, text] as const).entries())
        articles.set(1_000 + at, { section: 12, title: name, body: `<p>${body}</p>` });
      tickets.set(300, { subject: 'About tides', comments: [{ text: 'On tides.' }] });
      tickets.set(301, { subject: 'Deleted', status: 'deleted', comments: [{ text: 'Gone.' }] });
      emulator.reset();
      return {
        containers: [...[...categories.keys()].map((id) => `category:${id}`), 'tickets'].map(idOf),
        lighthouse: idOf('article:100'),
        keeper: idOf('article:101'),
        branch: idOf('section:10'),
        others: [...OTHERS.map((_, at) => `article:${at + 200}`), 'ticket:300'].map(idOf),
        items: 20 + more,
      };
    },
    write(externalId, text) {
      const article = account().articles.get(numberOf(externalId))!;
      article.body = `<p>${text}</p>`;
      article.updated = new Date().toISOString();
    },
    remove(externalId) {
      account().articles.delete(numberOf(externalId));
    },
    limit(requests, retryAfterS = 0) {
      emulator.injectFault(
        nextRequests(requests, () => ({ status: 429, headers: { 'retry-after': String(retryAfterS) } })),
      );
    },
    breakItem(externalId, status) {
      emulator.injectFault((path) =>
        path.includes(`/articles/${numberOf(externalId)}/translations`) ? { status } : null,
      );
    },
    contentRequests(externalId) {
      const [kind, id] = externalId.slice(idOf('').length).split(':');
      const path = kind === 'article' ? `/articles/${id}/translations.json` : `/tickets/${id}/comments.json`;
      return emulator.requests.filter((request) => request.includes(path)).length;
    },
    pagesListed: () => emulator.requests.filter((path) => path.includes('/help_center/categories.json')).length,
  };
}

import { nextRequests } from '../../emulators/emulator.js';
import { type GuruEmulator, startGuru, TOKEN, USERNAME } from '../../emulators/guru.js';
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
export type GuruFixture = SourceFixture & { readonly emulator: GuruEmulator };

export async function fixtureForGuru(): Promise<GuruFixture> {
  const emulator = await startGuru();
  const { collections, folders, cards, tokens } = emulator;
  const htmlOf = (text: string): string => `<p>${text}</p>`;
  const connect: SourceFixture['connect'] = (user, body = {}) =>
    user.post('/integrations/guru', { username: USERNAME, access_token: TOKEN, ...body });
  return {
    emulator,
    ...fixtureOn(emulator),
    settings: emulator.settings,
    secret: TOKEN,
    externalId: `GURU|${USERNAME.toLowerCase()}`,
    reset(more = 0) {
      for (const map of [collections, folders, cards]) map.clear();
      for (const name of CONTAINERS) collections.set(name, `Collection ${name}`);
      folders.set('sights', { title: 'Sights', parent: 'atlas' });
      folders.set('people', { title: 'People', parent: 'sights' });
      cards.set('lighthouse', { title: 'Lighthouse', html: htmlOf(LIGHTHOUSE), collection: 'atlas', folder: 'sights' });
      cards.set('keeper', { title: 'Keeper', html: htmlOf(KEEPER_SENTENCE), collection: 'atlas', folder: 'people' });
      for (const name of OTHERS)
        cards.set(`on-${name}`, { title: `On ${name}`, html: htmlOf(`On ${name}.`), collection: name });
      for (const [title, text] of moreDocuments(more, (name, content) => [name, content]))
        cards.set(title, { title, html: htmlOf(text), collection: 'atlas' });
      emulator.reset();
      tokens.add(TOKEN);
      return {
        containers: CONTAINERS.map((name) => `collection:${name}`),
        lighthouse: 'lighthouse',
        keeper: 'keeper',
        branch: 'folder:sights',
        others: OTHERS.map((name) => `on-${name}`),
        items: 13 + more,
      };
    },
    connect,
    connectWithInvalidCredentials: (user) => connect(user, { access_token: 'nobody' }),
    write(externalId, text) {
      const card = cards.get(externalId)!;
      card.html = htmlOf(text);
      card.edited = (card.edited ?? 0) + 1;
    },
    remove: (externalId) => void cards.delete(externalId),
    limit(requests, retryAfterS = 0) {
      emulator.injectFault(
        nextRequests(requests, () => ({ status: 429, headers: { 'retry-after': String(retryAfterS) } })),
      );
    },
    breakItem(externalId, status) {
      emulator.injectFault((path) => (path === `/api/v1/cards/${externalId}/extended` ? { status } : null));
    },
    contentRequests: (externalId) =>
      emulator.requests.filter((path) => path === `/api/v1/cards/${externalId}/extended`).length,
    revokeAccess: () => void tokens.delete(TOKEN),
    pagesListed: () => emulator.requests.filter((path) => /^\/api\/v1\/collections(?:\?|$)/.test(path)).length,
  };
}

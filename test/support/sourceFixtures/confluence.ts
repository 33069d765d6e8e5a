import { type ConfluenceEmulator, type EmulatedContent, startConfluence } from '../../emulators/confluence.js';
import { nextRequests } from '../../emulators/emulator.js';
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
export type ConfluenceFixture = SourceFixture & { readonly emulator: ConfluenceEmulator };

export const HARBOUR = 'cloud-harbour';
const SCOPES = ['read:space:confluence', 'read:page:confluence'];
const [LIGHTHOUSE_ID, PEOPLE_ID, KEEPER_ID] = ['2001', '2002', '2003'];
const spaceId = (name: (typeof CONTAINERS)[number]): string => String(101 + CONTAINERS.indexOf(name));

export async function fixtureForConfluence(): Promise<ConfluenceFixture> {
  const emulator = await startConfluence();
  const { sites, oauth } = emulator;
  const byConsent = fixtureByConsent('CONFLUENCE', emulator);
  const contents = (): Map<string, EmulatedContent> => sites.get(HARBOUR)!.contents;
  const storageOf = (text: string): string => `<p>${text}</p>`;
  return {
    emulator,
    ...fixtureOn(emulator),
    ...byConsent,
    connect: (user, body = {}) => byConsent.connect(user, { confluence_subdomain: 'harbour', ...body }),
    get secret() {
      return lastToken(oauth);
    },
    settings: emulator.settings,
    externalId: `CONFLUENCE|ada@harbour.example|${HARBOUR}/harbour`,
    reset(more = 0) {
      sites.clear();
      sites.set(HARBOUR, { subdomain: 'harbour', scopes: SCOPES, spaces: new Map(), contents: new Map() });
      const { spaces } = sites.get(HARBOUR)!;
      for (const name of CONTAINERS) spaces.set(spaceId(name), `Space ${name}`);
      const space = spaceId('atlas');
      contents()
        .set(LIGHTHOUSE_ID, { space, title: 'Lighthouse', storage: storageOf(LIGHTHOUSE) })
        .set(PEOPLE_ID, { kind: 'folder', space, title: 'People', parent: LIGHTHOUSE_ID })
        .set(KEEPER_ID, { space, title: 'Keeper', storage: storageOf(KEEPER_SENTENCE), parent: PEOPLE_ID });
      const others = OTHERS.map((name, index) => {
        contents().set(`${3001 + index}`, {
          space: spaceId(name),
          title: `On ${name}`,
          storage: storageOf(`On ${name}.`),
        });
        return `${3001 + index}`;
      });
      for (const [index, [title, text]] of moreDocuments(more, (name, content) => [name, content]).entries())
        contents().set(`${4001 + index}`, { space, title, storage: storageOf(text) });
      emulator.reset();
      return {
        containers: CONTAINERS.map((name) => `space:${spaceId(name)}`),
        lighthouse: LIGHTHOUSE_ID,
        keeper: KEEPER_ID,
        branch: LIGHTHOUSE_ID,
        others,
        items: 12 + more,
      };
    },
    write(externalId, text) {
      const content = contents().get(externalId)!;
      content.storage = storageOf(text);
      content.version = (content.version ?? 1) + 1;
    },
    remove(externalId) {
      contents().get(externalId)!.status = 'trashed';
    },
    limit(requests, retryAfterS = 0) {
      emulator.injectFault(
        nextRequests(requests, () => ({ status: 429, headers: { 'retry-after': String(retryAfterS) } })),
      );
    },
    breakItem(externalId, status) {
      emulator.injectFault((path) => (path.endsWith(`/pages/${externalId}`) ? { status } : null));
    },
    contentRequests: (externalId) =>
      emulator.requests.filter((path) => path.includes(`/pages/${externalId}?body-format`)).length,
    pagesListed: () => emulator.requests.filter((path) => path.includes('/wiki/api/v2/spaces?')).length,
  };
}

import { nextRequests } from '../../emulators/emulator.js';
import { startZotero, type ZoteroEmulator, zoteroKey } from '../../emulators/zotero.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
import { KEEPER_SENTENCE, LIGHTHOUSE, moreDocuments, OTHERS, type SourceFixture, fixtureOn } from './fixture.js';

/** A fixture that also exposes its emulator, for tests of behaviour that only this source has. */
export type ZoteroFixture = SourceFixture & { readonly emulator: ZoteroEmulator };

const PERSONAL_LIBRARY = 'users/475';
const GROUPS = [...OTHERS, 'flags'] as const;
const groupOf = (index: number): string => `groups/${index + 12}`;
const idOf = (library: string, name: string): string => `${library}/items/${zoteroKey(name)}`;
const ADDED = '2026-01-07T09:00:00Z';

export async function fixtureForZotero(): Promise<ZoteroFixture> {
  const emulator = await startZotero();
  const { libraries, oauth, put, drop } = emulator;
  const putItem = (library: string, name: string, text: string, fields: object = {}): void =>
    put(library, 'items', zoteroKey(name), {
      ...{ itemType: 'journalArticle', title: `About ${name}`, abstractNote: text, dateAdded: ADDED, collections: [] },
      ...fields,
    });
  const partsOf = (externalId: string): [library: string, key: string] => {
    const [kind, number, , key = ''] = externalId.split('/');
    return [`${kind}/${number}`, key];
  };
  return {
    emulator,
    ...fixtureOn(emulator),
    ...fixtureByConsent('ZOTERO', emulator),
    get secret() {
      return lastToken(oauth);
    },
    settings: emulator.settings,
    externalId: 'ZOTERO|475',
    reset(more = 0) {
      libraries.clear();
      emulator.rights.hasLibrary = true;
      emulator.backoff.seconds = 0;
      for (const [index, name] of ['ada', ...GROUPS].entries())
        libraries.set(index === 0 ? PERSONAL_LIBRARY : groupOf(index - 1), {
          ...{ name, version: 0, collections: new Map(), items: new Map(), deleted: [] },
        });
      put(PERSONAL_LIBRARY, 'collections', zoteroKey('sights'), { name: 'Sights', parentCollection: false });
      put(PERSONAL_LIBRARY, 'collections', zoteroKey('people'), {
        name: 'People',
        parentCollection: zoteroKey('sights'),
      });
      putItem(PERSONAL_LIBRARY, 'lighthouse', LIGHTHOUSE, { collections: [zoteroKey('people')] });
      const file = {
        itemType: 'attachment',
        linkMode: 'imported_file',
        filename: 'keeper.md',
        contentType: 'text/markdown',
      };
      put(
        PERSONAL_LIBRARY,
        'items',
        zoteroKey('keeper'),
        { ...file, parentItem: zoteroKey('lighthouse'), dateAdded: ADDED, md5: 'a1' },
        KEEPER_SENTENCE,
      );
      for (const [name, text] of moreDocuments(more, (id, content) => [id, content] as const))
        putItem(PERSONAL_LIBRARY, name, text);
      for (const [index, name] of GROUPS.entries()) putItem(groupOf(index), name, `On ${name}.`);
      emulator.reset();
      return {
        containers: [PERSONAL_LIBRARY, ...GROUPS.map((_name, index) => groupOf(index))],
        lighthouse: idOf(PERSONAL_LIBRARY, 'lighthouse'),
        keeper: idOf(PERSONAL_LIBRARY, 'keeper'),
        branch: `${PERSONAL_LIBRARY}/collections/${zoteroKey('sights')}`,
        others: GROUPS.map((name, index) => idOf(groupOf(index), name)),
        items: 15 + more,
        format: 'MD',
      };
    },
    write(externalId, text) {
      const [library, key] = partsOf(externalId);
      put(library, 'items', key, { ...libraries.get(library)!.items.get(key)!.data, abstractNote: text });
    },
    remove(externalId) {
      const [library, key] = partsOf(externalId);
      drop(library, 'items', key);
    },
    limit(requests, retryAfterS = 0) {
      const refusal = (number: number) => ({
        status: number % 2 === 0 ? 429 : 503,
        headers: { 'retry-after': String(retryAfterS) },
      });
      emulator.injectFault(nextRequests(requests, refusal));
    },
    breakItem: (externalId, status) => emulator.injectFault((path) => (path === `/${externalId}` ? { status } : null)),
    contentRequests: (externalId) => emulator.requests.filter((path) => path === `/${externalId}`).length,
    pagesListed: () => emulator.requests.filter((path) => path.startsWith(`/${PERSONAL_LIBRARY}/groups?`)).length,
  };
}

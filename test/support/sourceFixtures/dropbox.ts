import { type DropboxEmulator, startDropbox } from '../../emulators/dropbox.js';
import { nextRequests } from '../../emulators/emulator.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
import { KEEPER_SENTENCE, LIGHTHOUSE, moreDocuments, OTHERS, type SourceFixture, fixtureOn } from './fixture.js';

/** The fixture with its emulator, for tests of Dropbox only. */
export interface DropboxFixture extends SourceFixture {
  readonly dropbox: DropboxEmulator;
}

export async function fixtureForDropbox(): Promise<DropboxFixture> {
  const dropbox = await startDropbox();
  const { items, oauth } = dropbox;
  const isContent = (request: string, id: string): boolean =>
    /^files\/(download|export) /.test(request) && request.includes(`"${id}"`);
  return {
    ...fixtureOn(dropbox),
    ...fixtureByConsent('DROPBOX', dropbox),
    dropbox,
    hold: (only = '') => dropbox.injectFault((request) => (request.includes(only) ? 'hang' : null)),
    get secret() {
      return lastToken(oauth);
    },
    settings: dropbox.settings,
    externalId: 'DROPBOX|ada@harbour.example',
    reset(more = 0) {
      items.clear();
      items.set('id:atlas', { path: '/Atlas' });
      for (const name of OTHERS) {
        items.set(`id:${name}`, { path: `/${name}` });
        items.set(`id:in-${name}`, { path: `/${name}/${name}.md`, content: `On ${name}.` });
      }
      items.set('id:sights', { path: '/Atlas/Sights' });
      items.set('id:people', { path: '/Atlas/Sights/People' });
      items.set('id:lighthouse', { path: '/Atlas/Sights/Lighthouse.md', content: LIGHTHOUSE });
      items.set('id:keeper', { path: '/Atlas/Sights/People/Keeper.md', content: KEEPER_SENTENCE });
      for (const [name, content] of moreDocuments(more, (title, text) => [title, text]))
        items.set(`id:${name}`, { path: `/Atlas/${name}.md`, content });
      Object.assign(dropbox.namespaces, { home: '1001', root: '1001' });
      dropbox.reset();
      return {
        containers: ['id:atlas', ...OTHERS.map((name) => `id:${name}`)],
        lighthouse: 'id:lighthouse',
        keeper: 'id:keeper',
        branch: 'id:sights',
        others: OTHERS.map((name) => `id:in-${name}`),
        items: 13 + more,
        format: 'MD',
      };
    },
    write(externalId, text) {
      items.set(externalId, { ...items.get(externalId)!, content: text });
    },
    remove: (externalId) => void items.delete(externalId),
    limit: (requests, retryAfterS = 0) =>
      dropbox.injectFault(
        nextRequests(requests, () => ({ status: 429, headers: { 'retry-after': String(retryAfterS) } })),
      ),
    breakItem: (externalId, status) =>
      dropbox.injectFault((request) => (isContent(request, externalId) ? { status } : null)),
    contentRequests: (externalId) => dropbox.requests.filter((request) => isContent(request, externalId)).length,
    pagesListed: () => dropbox.requests.filter((request) => request.startsWith('files/list_folder')).length,
  };
}

import { type BoxEmulator, startBox } from '../../emulators/box.js';
import { nextRequests } from '../../emulators/emulator.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
import { KEEPER_SENTENCE, LIGHTHOUSE, moreDocuments, OTHERS, type SourceFixture, fixtureOn } from './fixture.js';

/** A fixture that also exposes its emulator, for tests of behaviour that only this source has. */
export interface BoxFixture extends SourceFixture {
  readonly box: BoxEmulator;
}

export async function fixtureForBox(): Promise<BoxFixture> {
  const box = await startBox();
  const { items, oauth } = box;
  return {
    ...fixtureOn(box),
    ...fixtureByConsent('BOX', box),
    box,
    get secret() {
      return lastToken(oauth);
    },
    settings: box.settings,
    externalId: 'BOX|ada@harbour.example',
    reset(more = 0) {
      items.clear();
      items.set('folder:10', { name: 'Atlas' });
      for (const [index, name] of OTHERS.entries()) {
        items.set(`folder:${20 + index}`, { name });
        // Files and folders have separate ids, so a file can have the number of a folder.
        items.set(String(20 + index), { name: `${name}.md`, parent: String(20 + index), content: `On ${name}.` });
      }
      items.set('folder:11', { name: 'Sights', parent: '10' });
      items.set('folder:12', { name: 'People', parent: '11' });
      items.set('100', { name: 'Lighthouse.md', parent: '11', content: LIGHTHOUSE });
      items.set('101', { name: 'Keeper.md', parent: '12', content: KEEPER_SENTENCE });
      for (const [name, content] of moreDocuments(more, (title, text) => [title, text]))
        items.set(String(1_000 + Number(name.slice(1))), { name: `${name}.md`, parent: '10', content });
      box.unready.times = 0;
      box.reset();
      return {
        containers: ['folder:10', ...OTHERS.map((_name, index) => `folder:${20 + index}`)],
        lighthouse: '100',
        keeper: '101',
        branch: 'folder:11',
        others: OTHERS.map((_name, index) => String(20 + index)),
        items: 13 + more,
        format: 'MD',
      };
    },
    write(externalId, text) {
      items.set(externalId, { ...items.get(externalId)!, content: text });
    },
    remove: (externalId) => void items.delete(externalId),
    limit: (requests, retryAfterS = 0) =>
      box.injectFault(nextRequests(requests, () => ({ status: 429, headers: { 'retry-after': String(retryAfterS) } }))),
    breakItem: (externalId, status) =>
      box.injectFault((path) => (path === `/2.0/files/${externalId}/content` ? { status } : null)),
    contentRequests: (externalId) => box.requests.filter((path) => path === `/2.0/files/${externalId}/content`).length,
    pagesListed: () => box.requests.filter((path) => path.startsWith('/2.0/folders/0/items?')).length,
  };
}

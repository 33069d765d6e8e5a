import { nextRequests } from '../../emulators/emulator.js';
import { type NotionEmulator, startNotion } from '../../emulators/notion.js';
import { notionId, PEOPLE, WORKSPACE } from '../../emulators/notionObjects.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
import { KEEPER_SENTENCE, LIGHTHOUSE, moreDocuments, OTHERS, type SourceFixture, fixtureOn } from './fixture.js';

/** A fixture that also exposes its emulator, for tests of behaviour that only this source has. */
export type NotionFixture = SourceFixture & { readonly emulator: NotionEmulator };

const LIGHTHOUSE_ID = notionId(1);
const KEEPER_ID = notionId(2);
const paragraph = (text: string) => [{ type: 'paragraph', text }];

export async function fixtureForNotion(): Promise<NotionFixture> {
  const emulator = await startNotion();
  const { pages, databases, hidden, search, oauth } = emulator;
  return {
    emulator,
    ...fixtureOn(emulator),
    ...fixtureByConsent('NOTION', emulator),
    get secret() {
      return lastToken(oauth);
    },
    settings: emulator.settings,
    externalId: `NOTION|${WORKSPACE}:${PEOPLE[0]!.id}`,
    reset(more = 0) {
      for (const collection of [pages, databases, hidden, search.omitted]) collection.clear();
      search.isIncomplete = false;
      pages.set(LIGHTHOUSE_ID, { title: 'Lighthouse', blocks: paragraph(LIGHTHOUSE) });
      pages.set(KEEPER_ID, { title: 'Keeper', blocks: paragraph(KEEPER_SENTENCE), parent: { page: LIGHTHOUSE_ID } });
      const others = OTHERS.map((name, index) => {
        pages.set(notionId(11 + index), { title: `On ${name}`, blocks: paragraph(`On ${name}.`) });
        return notionId(11 + index);
      });
      for (const [index, [title, text]] of moreDocuments(more, (name, content) => [name, content]).entries())
        pages.set(notionId(101 + index), { title, blocks: paragraph(text), parent: { page: LIGHTHOUSE_ID } });
      emulator.reset();
      return {
        // Each page is a document itself. Only databases are pure containers in Notion, and their rows become files
        // of the source NOTION_DATABASE.
        containers: [LIGHTHOUSE_ID, ...others],
        lighthouse: LIGHTHOUSE_ID,
        keeper: KEEPER_ID,
        branch: LIGHTHOUSE_ID,
        others,
        items: 6 + more,
      };
    },
    write(externalId, text) {
      const page = pages.get(externalId)!;
      page.blocks = paragraph(text);
      page.edited = Number(page.edited ?? 0) + 1;
    },
    remove(externalId) {
      pages.get(externalId)!.trashed = true;
    },
    limit(requests, retryAfterS = 0) {
      emulator.injectFault(
        nextRequests(requests, (number) => ({
          status: number % 2 === 0 ? 429 : 529,
          headers: { 'retry-after': String(retryAfterS) },
        })),
      );
    },
    breakItem(externalId, status) {
      // The first request for a page's blocks lists its children, the second reads its content.
      let requestCount = 0;
      emulator.injectFault((path) => {
        if (path !== `/v1/blocks/${externalId}/children`) return null;
        requestCount += 1;
        return requestCount > 1 ? { status } : null;
      });
    },
    // No contentRequests: requests for content and for children have the same path.
    pagesListed: () => emulator.requests.filter((path) => path === '/v1/search').length,
  };
}

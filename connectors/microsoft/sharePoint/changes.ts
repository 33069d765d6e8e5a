import { readCursor, writeCursor } from '../../cursors.js';
import type { GrantClient } from '../../accountClient.js';
import type { Change } from '../../sourceItem.js';
import { driveFeeds, latest, placesOf } from '../drives/changes.js';
import { joinFeeds } from '../feeds.js';
import { type GraphPage, type Query, fetchAll, isQuery } from '../graph.js';
import { itemOfPage, itemOfPages, LISTED, PAGE_TYPE, PAGES } from './pages.js';
import { drivesOf, LIBRARIES, siteOf } from './site.js';
import { asText, type Json } from '../../json.js';

/**
 * Maximum number of libraries of a site, and of its pages. If a site has more, its change feed fails with a Fault
 * too_large.
 */
const MAX_TRACKED = 5_000;

/** Returns the eTags of the pages by page id, as the previous reading of the feed stored them in the cursor. */
function knownVersions(query: Query | null): Readonly<Record<string, string>> {
  return readCursor(isQuery, query?.['known'] ?? '{}');
}

/** Finds changed and deleted pages by comparison: pages have no feed, and a site has few of them. */
async function pagesSince(client: GrantClient, query: Query | null): Promise<GraphPage> {
  const { id } = await siteOf(client);
  const all = await fetchAll(client, ['sites', id, 'pages', PAGE_TYPE], LISTED, { maxEntries: MAX_TRACKED });
  const before = new Map(Object.entries(knownVersions(query)));
  const etagsById = Object.fromEntries(all.map((page) => [asText(page['id']) ?? '', asText(page['eTag']) ?? '']));
  const changed = all.filter((page) => before.get(asText(page['id']) ?? '') !== (asText(page['eTag']) ?? ''));
  const deleted = [...before.keys()].filter((page) => !Object.hasOwn(etagsById, page));
  const values: readonly Json[] = [...changed, ...deleted.map((page) => ({ id: page, deleted: {} }))];
  return { values, next: null, delta: { known: writeCursor(etagsById) } };
}

function changesOfPages({ values }: GraphPage): readonly Change[] {
  return values.flatMap((page): Change[] => {
    if (page['deleted'] !== undefined) return [{ gone: `${PAGES}/${asText(page['id']) ?? ''}` }];
    const item = itemOfPage(page);
    return item === null ? [] : [{ item }];
  });
}

/** The change feed of a site's libraries and pages. */
export const siteChanges = joinFeeds({
  ...driveFeeds,
  async list(client) {
    const site = await siteOf(client);
    const drives = await fetchAll(client, drivesOf(site), LIBRARIES, { maxEntries: MAX_TRACKED });
    return [...(await placesOf(client, drives)), { id: PAGES, root: PAGES, item: itemOfPages(site) }];
  },
  latest: (client, place) => (place.id === PAGES ? pagesSince(client, null) : latest(client, place)),
  page: (client, place, query) =>
    place.id === PAGES ? pagesSince(client, query) : driveFeeds.page(client, place, query),
  changes: (client, page, place, places) =>
    place.id === PAGES ? Promise.resolve(changesOfPages(page)) : driveFeeds.changes(client, page, place, places),
});

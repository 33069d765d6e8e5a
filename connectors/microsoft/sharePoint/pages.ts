/**
 * The pages of a site, which belong to no document library. https://learn.microsoft.com/graph/api/resources/sitepage
 */
import type {
  CanvasLayout,
  HorizontalSection,
  HorizontalSectionColumn,
  ServerProcessedContent,
  SitePage,
  StandardWebPart,
  TextWebPart,
  VerticalSection,
  WebPartData,
} from '@microsoft/microsoft-graph-types';

import { withCursor } from '../../cursors.js';
import { Fault } from '../../../contract/failures.js';
import type { ItemContent } from '../../connector.js';
import type { SourceClient } from '../../accountClient.js';
import type { SourceItem } from '../../sourceItem.js';
import { withCallerId, dateOf, type Query, fetchPage, isQuery } from '../graph.js';
import { NAME, type Site } from './site.js';
import { escapeHtml } from '../../html.js';
import { isFault, noSuchItem, requireId } from '../../faults.js';
import { type Answer, asAnswer, asObjects, asText } from '../../json.js';
import { createItem, createContainer } from '../../items.js';

/** Id of the item that contains all pages of the site. No drive has this id. */
export const PAGES = 'pages';
const GUID = /^[\da-f-]{1,64}$/i;
export const PAGE_TYPE = 'microsoft.graph.sitePage';
export const LISTED: Query = { $select: 'id,name,title,webUrl,createdDateTime,eTag', $top: '200' };

export const isPages = (externalId: string): boolean => externalId === PAGES || externalId.startsWith(`${PAGES}/`);

/** Returns the container of a site's pages. */
export const itemOfPages = ({ json }: Site): SourceItem =>
  createContainer({
    externalId: PAGES,
    name: 'Site pages',
    itemType: 'FOLDER',
    externalUrl: asText(json.webUrl),
  });

/** Converts a page; null without an id. */
export function itemOfPage(page: Answer<SitePage>): SourceItem | null {
  const id = asText(page.id);
  if (id === null || !GUID.test(id)) return null;
  return createItem({
    externalId: `${PAGES}/${id}`,
    parentExternalId: PAGES,
    rootExternalId: PAGES,
    name: asText(page.title) ?? asText(page.name) ?? id,
    itemType: 'PAGE',
    externalUrl: asText(page.webUrl),
    fileFormat: 'HTML',
    hasContent: true,
    createdAt: dateOf(page.createdDateTime),
    version: asText(page.eTag),
  });
}

function pageIdOf(externalId: string): string {
  const id = externalId.slice(PAGES.length + 1);
  if (!GUID.test(id)) throw noSuchItem(NAME);
  return id;
}

interface Below {
  readonly site: Site;
  readonly externalId: string;
}

/** Lists the pages of a site, one part of the API's list per call; or returns the one selected page. */
export const listSitePages = withCursor(isQuery, async (client: SourceClient, { site, externalId }: Below, cursor) => {
  const path = ['sites', site.id, 'pages'];
  if (externalId !== PAGES) {
    const request = client.get([...path, pageIdOf(externalId), PAGE_TYPE], { $select: LISTED['$select'] ?? '' });
    const item = itemOfPage(requireId(NAME, await withCallerId(NAME, request), 'the page'));
    if (item === null) throw noSuchItem(NAME);
    return { items: [item], next: null };
  }
  const { values, next } = await fetchPage(client, [...path, PAGE_TYPE], cursor ?? LISTED);
  const items = values.flatMap((page) => itemOfPage(page) ?? []);
  return {
    items: cursor === null ? [itemOfPages(site), ...items] : items,
    next,
  };
});

/** A web part: formatted text, or a component such as a list or a news feed. */
type Part = Answer<TextWebPart | StandardWebPart>;

/** Returns the HTML of a web part: formatted text, else the texts that it provides for search. */
function htmlOfPart(part: Part): string {
  const html = asText(part.innerHtml);
  if (html !== null) return html;
  const { serverProcessedContent: content } = asAnswer<WebPartData>(part.data);
  const texts = asObjects(asAnswer<ServerProcessedContent>(content).searchablePlainTexts)
    .map(({ value }) => asText(value))
    .filter((text) => text !== null);
  return texts.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n');
}

/** Returns the web parts in display order. */
function partsOf(layout: Answer<CanvasLayout>): readonly Part[] {
  const sections: readonly Answer<HorizontalSection>[] = asObjects(layout.horizontalSections);
  const columns: readonly Answer<HorizontalSectionColumn>[] = sections.flatMap(({ columns: some }) => asObjects(some));
  return [...columns, asAnswer<VerticalSection>(layout.verticalSection)].flatMap(({ webparts }) => asObjects(webparts));
}

/**
 * Returns a page with its layout. Graph answers 400 for a page with an invalid layout, and also for an invalid id. A
 * request without the layout succeeds only for a valid id. https://github.com/SharePoint/sp-dev-docs/issues/8822
 */
async function readPage(client: SourceClient, path: readonly string[]): Promise<Answer<SitePage>> {
  try {
    return requireId(NAME, await client.get(path, { $expand: 'canvasLayout' }), 'the page');
  } catch (error) {
    if (!isFault(error, 'bad_response')) throw error;
    requireId(NAME, await withCallerId(NAME, client.get(path, { $select: 'id' })), 'the page');
    throw new Fault(
      'unsupported_type',
      'Microsoft cannot return the layout of this SharePoint page. Edit and republish it there, then sync again.',
    );
  }
}

/** Returns a page's content as HTML. */
export async function openPage(client: SourceClient, site: Site, externalId: string): Promise<ItemContent> {
  if (externalId === PAGES)
    throw new Fault(
      'unsupported_type',
      'The container of SharePoint pages has no text of its own: sync the pages in it.',
    );
  const page = await readPage(client, ['sites', site.id, 'pages', pageIdOf(externalId), PAGE_TYPE]);
  const title = asText(page.title) ?? asText(page.name) ?? '';
  const body = partsOf(asAnswer(page.canvasLayout))
    .map(htmlOfPart)
    .filter((html) => html !== '');
  const html = `<!doctype html><html><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head><body><main><h1>${escapeHtml(title)}</h1>\n${body.join('\n')}</main></body></html>`;
  const etag = asText(page.eTag);
  return {
    bytes: Buffer.from(html),
    contentType: 'text/html; charset=utf-8',
    format: null,
    mimeType: 'text/html',
    name: title === '' ? null : title,
    url: asText(page.webUrl) ?? externalId,
    fileMetadata: { type: 'PAGE', site_id: site.id, ...(etag === null ? {} : { etag }) },
  };
}

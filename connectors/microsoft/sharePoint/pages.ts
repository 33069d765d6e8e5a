/** The pages of a site, which lie in no document library. https://learn.microsoft.com/graph/api/resources/sitepage */
import { Fault } from '../../../contract/failures.js';
import type { ItemContent, ItemPage, SourceClient, SourceItem } from '../../connector.js';
import {
  byGivenId,
  dateOf,
  type Json,
  noSuchItem,
  objectOf,
  objectsOf,
  type Query,
  takePage,
  textOf,
} from '../graph.js';
import { NAME, type Site } from './site.js';

/** The container of all pages of the site. No drive is called so. */
export const PAGES = 'pages';
const GUID = /^[\da-f-]{1,64}$/i;
export const PAGE_TYPE = 'microsoft.graph.sitePage';
export const LISTED: Query = { $select: 'id,name,title,webUrl,createdDateTime,eTag', $top: '200' };

export const isPages = (externalId: string): boolean => externalId === PAGES || externalId.startsWith(`${PAGES}/`);

export const itemOfPages = ({ json }: Site): SourceItem => ({
  externalId: PAGES,
  parentExternalId: null,
  rootExternalId: null,
  name: 'Site pages',
  itemType: 'FOLDER',
  externalUrl: textOf(json['webUrl']),
  fileFormat: null,
  isSelectable: true,
  isExpandable: true,
  hasContent: false,
  createdAt: null,
  version: null,
});

export function itemOfPage(page: Json): SourceItem | null {
  const id = textOf(page['id']);
  if (id === null || !GUID.test(id)) return null;
  return {
    externalId: `${PAGES}/${id}`,
    parentExternalId: PAGES,
    rootExternalId: PAGES,
    name: textOf(page['title']) ?? textOf(page['name']) ?? id,
    itemType: 'PAGE',
    externalUrl: textOf(page['webUrl']),
    fileFormat: 'HTML',
    isSelectable: true,
    isExpandable: false,
    hasContent: true,
    createdAt: dateOf(page['createdDateTime']),
    version: textOf(page['eTag']),
  };
}

function pageIdOf(externalId: string): string {
  const id = externalId.slice(PAGES.length + 1);
  if (!GUID.test(id)) throw noSuchItem(NAME);
  return id;
}

/** A page of the pages of a site, or the one that is meant. */
export async function belowPages(
  client: SourceClient,
  site: Site,
  { externalId, cursor }: { readonly externalId: string; readonly cursor: string | null },
  signal: AbortSignal,
): Promise<ItemPage> {
  const path = ['sites', site.id, 'pages'];
  if (externalId !== PAGES) {
    const asked = client.get([...path, pageIdOf(externalId), PAGE_TYPE], { $select: LISTED['$select'] ?? '' }, signal);
    const item = itemOfPage(await byGivenId(NAME, asked));
    if (item === null) throw noSuchItem(NAME);
    return { items: [item], next: null };
  }
  const query = cursor === null ? LISTED : (JSON.parse(cursor) as Query);
  const { values, next } = await takePage(client, [...path, PAGE_TYPE], query, signal);
  const items = values.flatMap((page) => itemOfPage(page) ?? []);
  return {
    items: cursor === null ? [itemOfPages(site), ...items] : items,
    next: next === null ? null : JSON.stringify(next),
  };
}

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** What stands in a part of a page: text as its author formatted it, else the texts that its kind has for search. */
function htmlOfPart(part: Json): string {
  const html = textOf(part['innerHtml']);
  if (html !== null) return html;
  const data = objectOf(part['data']);
  const texts = objectsOf(objectOf(data['serverProcessedContent'])['searchablePlainTexts'])
    .map(({ value }) => textOf(value))
    .filter((text) => text !== null);
  return texts.map((text) => `<p>${escape(text)}</p>`).join('\n');
}

/** The parts of a page in the order that it shows them. */
function partsOf(layout: Json): readonly Json[] {
  const columns = objectsOf(layout['horizontalSections']).flatMap(({ columns: some }) => objectsOf(some));
  return [...columns, objectOf(layout['verticalSection'])].flatMap(({ webparts }) => objectsOf(webparts));
}

/** A page as the HTML of what it says. */
export async function openPage(
  client: SourceClient,
  site: Site,
  externalId: string,
  signal: AbortSignal,
): Promise<ItemContent> {
  if (externalId === PAGES)
    throw new Fault('unsupported_type', 'The pages of SharePoint have no text together: sync each of them.');
  const path = ['sites', site.id, 'pages', pageIdOf(externalId), PAGE_TYPE];
  const page = await byGivenId(NAME, client.get(path, { $expand: 'canvasLayout' }, signal));
  const title = textOf(page['title']) ?? textOf(page['name']) ?? '';
  const body = partsOf(objectOf(page['canvasLayout']))
    .map(htmlOfPart)
    .filter((html) => html !== '');
  const html = `<!doctype html><html><head><meta charset="utf-8"><title>${escape(title)}</title></head><body><main><h1>${escape(title)}</h1>\n${body.join('\n')}</main></body></html>`;
  const etag = textOf(page['eTag']);
  return {
    bytes: Buffer.from(html),
    contentType: 'text/html; charset=utf-8',
    format: null,
    mimeType: 'text/html',
    name: title === '' ? null : title,
    url: textOf(page['webUrl']) ?? externalId,
    facts: { type: 'PAGE', site_id: site.id, ...(etag === null ? {} : { etag }) },
  };
}

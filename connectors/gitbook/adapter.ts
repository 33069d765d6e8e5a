import { Fault } from '../../contract/failures.js';
import type { ItemContent } from '../connector.js';
import type { SkippedItem, SourceItem } from '../sourceItem.js';
import { createItem, createContainer } from '../items.js';
import { type Answer, asAnswer, asAnswers, asText, omitNull } from '../json.js';
import type { GitBookPage, GitBookSpace, GitBookUrls } from './fields.js';

/** The fields of a space that are read. */
export interface SpaceJson {
  readonly id: string;
  readonly title?: string;
  readonly createdAt?: string;
  readonly deletedAt?: string;
  readonly urls?: { readonly app?: string; readonly published?: string };
}

/** The fields of a page that are read. */
export interface PageJson {
  readonly id: string;
  readonly title?: string;
  readonly type?: string;
  readonly path?: string;
  readonly description?: string;
  readonly createdAt?: string;
  readonly updatedAt?: string;
  readonly urls?: { readonly app?: string };
  /** Only with format=markdown. */
  readonly markdown?: string;
}

/** Parses a space; null for an answer without its id. */
export function spaceFrom(json: Answer<GitBookSpace>): SpaceJson | null {
  const id = asText(json.id);
  if (id === null) return null;
  const { app, published } = asAnswer<GitBookUrls>(json.urls);
  return {
    id,
    ...textsIn(json, ['title', 'createdAt', 'deletedAt']),
    urls: omitNull({ app: asText(app), published: asText(published) }),
  };
}

/** Parses a page without its subpages; null for an answer without its id. */
export function pageFrom(json: Answer<GitBookPage>): PageJson | null {
  const id = asText(json.id);
  if (id === null) return null;
  return {
    id,
    ...textsIn(json, ['title', 'type', 'path', 'description', 'createdAt', 'updatedAt', 'markdown']),
    urls: omitNull({ app: asText(asAnswer<GitBookUrls>(json.urls).app) }),
  };
}

const textsIn = <T extends object>(json: T, names: readonly (keyof T & string)[]): Readonly<Record<string, string>> =>
  omitNull(Object.fromEntries(names.map((name) => [name, asText(json[name])])));

/** Builds an item id. Page ids are unique within their space only, so it contains both. */
export const itemId = (spaceId: string, pageId: string): string => `${spaceId}/${pageId}`;

export function partsOf(externalId: string): { spaceId: string; pageId: string | null } {
  const slash = externalId.indexOf('/');
  if (slash < 0) return { spaceId: externalId, pageId: null };
  return { spaceId: externalId.slice(0, slash), pageId: externalId.slice(slash + 1) };
}

/** Converts a space. */
export function itemOfSpace({ id, title, createdAt, urls }: SpaceJson): SourceItem {
  return createContainer({
    externalId: id,
    name: title ?? id,
    itemType: 'SPACE',
    externalUrl: urls?.published ?? urls?.app ?? null,
    createdAt: createdAt ?? null,
  });
}

/**
 * Item types of the contract; GitBook used to call its documents sheets. Pages of other types, such as computed ones,
 * are skipped.
 */
const ITEM_TYPES: Readonly<Record<string, string>> = { document: 'SHEET', group: 'GROUP', link: 'LINK' };

const pageUrl = (space: SpaceJson, { path, urls }: PageJson): string | null =>
  space.urls?.published !== undefined && path !== undefined
    ? `${space.urls.published.replace(/\/+$/, '')}/${path}`
    : (urls?.app ?? null);

const LINK = 'It is a link, and has no text of its own. Sync its target.';
const COMPUTED =
  'GitBook computes this page on display, and its API returns no text. Sync the pages that it is computed from.';
const UNKNOWN = 'Pages of this type are not read. Their subpages are.';

/**
 * Returns pages of a space, parents first, and the entries among them that are not items.
 * @param selectedId page whose subtree is returned, which may be an entry that is not an item; null: all pages
 */
export function itemsOfPages(
  space: SpaceJson,
  pages: readonly Answer<GitBookPage>[],
  selectedId: string | null = null,
): { readonly items: SourceItem[]; readonly skipped: SkippedItem[] } {
  const items: SourceItem[] = [];
  const skipped: SkippedItem[] = [];
  // An explicit stack, so that deep nesting cannot overflow the call stack.
  const open = pages.map((json) => ({ json, parent: space.id, isInside: selectedId === null })).toReversed();
  for (let next = open.pop(); next; next = open.pop()) {
    const { json, parent } = next;
    const page = pageFrom(json);
    if (page === null) continue;
    const itemType = ITEM_TYPES[page.type ?? ''];
    const externalId = itemId(space.id, page.id);
    const isInside = next.isInside || page.id === selectedId;
    const inside = asAnswers<GitBookPage>(json.pages).toReversed();
    if (itemType === undefined) {
      const reason = page.type === 'computed' || 'computed' in json ? COMPUTED : UNKNOWN;
      if (isInside) skipped.push({ externalId, name: page.title ?? page.id, reason });
      // Not an item, so its subpages belong to the nearest item above.
      open.push(...inside.map((child) => ({ json: child, parent, isInside })));
      continue;
    }
    if (isInside)
      items.push(
        createItem({
          externalId,
          parentExternalId: parent,
          rootExternalId: space.id,
          name: page.title ?? page.id,
          itemType,
          externalUrl: pageUrl(space, page),
          fileFormat: page.type === 'document' ? 'MD' : null,
          isSelectable: page.type !== 'link',
          isExpandable: inside.length > 0,
          hasContent: page.type === 'document',
          createdAt: page.createdAt ?? null,
          version: page.updatedAt ?? null,
          ...(page.type === 'link' ? { skipReason: LINK } : {}),
        }),
      );
    open.push(...inside.map((child) => ({ json: child, parent: externalId, isInside })));
  }
  return { items, skipped };
}

/** Returns a page's content: title, description and text. */
export function contentOf(page: PageJson, externalId: string, spaceId: string): ItemContent {
  if (page.type !== undefined && page.type !== 'document')
    throw new Fault(
      'unsupported_type',
      page.type === 'link' ? LINK : 'This GitBook entry has no text of its own: sync the pages in it.',
    );
  const { title = '', description = '', markdown = '' } = page;
  const heading = title === '' ? '' : `# ${title}`;
  const [firstLine = ''] = markdown.trimStart().split('\n', 1);
  // The exported Markdown may already begin with the title.
  const hasHeading = heading !== '' && firstLine.trimEnd() === heading;
  const parts = hasHeading ? [markdown] : [heading, description, markdown];
  return {
    bytes: Buffer.from(parts.filter((part) => part.trim() !== '').join('\n\n')),
    contentType: 'text/markdown; charset=utf-8',
    format: 'GITBOOK',
    mimeType: 'text/markdown',
    name: title === '' ? null : title,
    url: page.urls?.app ?? externalId,
    fileMetadata: {
      type: 'PAGE',
      space_id: spaceId,
      ...(page.updatedAt === undefined ? {} : { updated_at: page.updatedAt }),
    },
  };
}

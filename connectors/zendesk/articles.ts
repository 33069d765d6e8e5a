import { type PageAt, withCursor, shapeOf, listOf, nullable, oneOf, pairOf, string, type Checked } from '../cursors.js';
import type { SourceClient } from '../accountClient.js';
import type { ItemPage, SourceItem } from '../sourceItem.js';
import { idOf } from '../helpdesk.js';
import type { ListRequest } from '../itemsByKind.js';
import {
  HELP_CENTER,
  itemOfArticle,
  itemOfCategory,
  itemOfContainer,
  itemOfSection,
  isDraft,
  skippedDraft,
  TICKETS,
} from './adapter.js';
import { NAME, fetchAll, fetchOne, fetchPage } from './api.js';
import type { Answer } from '../json.js';
import type { ZendeskArticle, ZendeskCategory, ZendeskSection, ZendeskTranslation } from './fields.js';
import { isFault, noSuchItem } from '../faults.js';

const CENTER = 'help_center';
/** Maximum number of sections of one category. */
const MAX_SECTIONS = 20_000;

/** Returns a page of the root items: the help centre's categories, then the tickets. */
export async function listRoots(client: SourceClient, cursor: string | null): Promise<ItemPage> {
  const tickets = itemOfContainer(TICKETS);
  try {
    const { values, next } = await fetchPage<ZendeskCategory>(client, [CENTER, 'categories'], cursor);
    const items = values.flatMap((category) => itemOfCategory(category) ?? []);
    return { items: next === null ? [...items, tickets] : items, next };
  } catch (error) {
    // The account has no help centre.
    if (isFault(error, 'not_found') && cursor === null) return { items: [tickets], next: null };
    // List a placeholder: its listing is refused too, so the sync records that the help centre is inaccessible. The page
    // is partial: known categories are root items, and must not count as deleted.
    if (isFault(error, 'access_denied') && cursor === null)
      return { items: [itemOfContainer(HELP_CENTER), tickets], next: null, isPartial: true };
    throw error;
  }
}

/** Requests the categories again. @throws Fault access_denied while they are refused */
export async function listHelpCenter(client: SourceClient): Promise<ItemPage> {
  await fetchPage(client, [CENTER, 'categories'], null);
  return { items: [itemOfContainer(HELP_CENTER)], next: null };
}

/** Position in the listing of a category or section. */
const CURSOR = shapeOf({
  category: string,
  /** Article lists still to be read; the first one is in progress. */
  open: listOf(pairOf(oneOf('categories', 'sections'), string)),
  at: nullable(string),
});
type Cursor = Checked<typeof CURSOR>;

const unlessEnd = (cursor: Cursor): Cursor | null => (cursor.open.length === 0 ? null : cursor);

/** Returns all sections of a category, nested ones included. */
async function sectionsOf(client: SourceClient, category: string): Promise<readonly Answer<ZendeskSection>[]> {
  const pages = await fetchAll<ZendeskSection>(client, [CENTER, 'categories', category, 'sections'], MAX_SECTIONS);
  return pages.flatMap(({ values }) => values);
}

/** Returns a section and its subsections, parents first. */
function branchOf(sections: readonly Answer<ZendeskSection>[], id: string): readonly Answer<ZendeskSection>[] {
  const below = new Map<string, Answer<ZendeskSection>[]>();
  for (const section of sections) {
    const above = idOf(section.parent_section_id) ?? '';
    below.set(above, [...(below.get(above) ?? []), section]);
  }
  const branch = sections.filter((section) => idOf(section.id) === id);
  const visitedIds = new Set([id]);
  for (const section of branch)
    for (const inner of below.get(idOf(section.id) ?? '') ?? []) {
      const innerId = idOf(inner.id) ?? '';
      // Invalid answers may contain a cycle: visit each section once.
      if (!visitedIds.has(innerId)) branch.push(inner);
      visitedIds.add(innerId);
    }
  return branch;
}

async function listArticles(client: SourceClient, cursor: Cursor): Promise<PageAt<Cursor>> {
  const [list, ...rest] = cursor.open;
  if (list === undefined) return { items: [], next: null };
  const { values, next } = await fetchPage<ZendeskArticle>(client, [CENTER, ...list, 'articles'], cursor.at);
  return {
    items: values.flatMap((article) => itemOfArticle(article, cursor.category) ?? []),
    skipped: values.flatMap((article) => skippedDraft(article) ?? []),
    next: unlessEnd(next === null ? { ...cursor, open: rest, at: null } : { ...cursor, at: next }),
  };
}

const itemsOf = (sections: readonly Answer<ZendeskSection>[], category: string): SourceItem[] =>
  sections.flatMap((section) => itemOfSection(section, category) ?? []);

/** Returns a page of a category and its descendants. */
export const listCategory = withCursor(
  CURSOR,
  async (client: SourceClient, { itemRef, typeSelection }: ListRequest, cursor) => {
    const { id: category } = itemRef;
    const withArticles = typeSelection.of('ARTICLE');
    if (cursor !== null) return listArticles(client, cursor);
    const { value } = await fetchOne<ZendeskCategory>(client, [CENTER, 'categories', category], 'category');
    const requestedItem = itemOfCategory(value);
    if (requestedItem === null) throw noSuchItem(NAME);
    if (!withArticles) return { items: [requestedItem], next: null };
    const sections = await sectionsOf(client, category);
    return {
      items: [requestedItem, ...itemsOf(sections, category)],
      next: unlessEnd({ category, open: [['categories', category]], at: null }),
    };
  },
);

/** Returns a page of a section and its descendants. */
export const listSection = withCursor(
  CURSOR,
  async (client: SourceClient, { itemRef, typeSelection }: ListRequest, cursor) => {
    const { id: section } = itemRef;
    const withArticles = typeSelection.of('ARTICLE');
    if (cursor !== null) return listArticles(client, cursor);
    const { value } = await fetchOne<ZendeskSection>(client, [CENTER, 'sections', section], 'section');
    const category = idOf(value.category_id) ?? '';
    const branch = branchOf(await sectionsOf(client, category), section);
    const items = itemsOf(branch, category);
    if (items.length === 0) throw noSuchItem(NAME);
    const open = withArticles
      ? branch.flatMap((inner) => (idOf(inner.id) === null ? [] : [['sections', idOf(inner.id) ?? ''] as const]))
      : [];
    return { items, next: unlessEnd({ category, open, at: null }) };
  },
);

/** Returns the item of an article. @throws Fault not_found also for a draft */
export async function articleItem(client: SourceClient, id: string): Promise<SourceItem> {
  const { value } = await fetchOne<ZendeskArticle>(client, [CENTER, 'articles', id], 'article');
  const section = idOf(value.section_id);
  const inside: Answer<ZendeskSection> =
    section === null ? {} : (await fetchOne<ZendeskSection>(client, [CENTER, 'sections', section], 'section')).value;
  const item = itemOfArticle(value, idOf(inside.category_id) ?? '');
  if (item === null) throw noSuchItem(NAME);
  return item;
}

/** Maximum number of translations of one article. */
const MAX_TRANSLATIONS = 1_000;

/** Returns an article with its translations. @throws Fault not_found also for a draft */
export async function readArticle(
  client: SourceClient,
  id: string,
): Promise<{ readonly article: Answer<ZendeskArticle>; readonly translations: readonly Answer<ZendeskTranslation>[] }> {
  const path = [CENTER, 'articles', id];
  const { value: article } = await fetchOne<ZendeskArticle>(client, path, 'article');
  if (idOf(article.id) === null || isDraft(article)) throw noSuchItem(NAME);
  const pages = await fetchAll<ZendeskTranslation>(client, [...path, 'translations'], MAX_TRANSLATIONS);
  return { article, translations: pages.flatMap(({ values }) => values) };
}

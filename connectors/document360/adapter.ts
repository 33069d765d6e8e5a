import type { ItemContent } from '../connector.js';
import type { SourceItem } from '../sourceItem.js';
import { escapeHtml } from '../html.js';
import { type Answer, asAnswer, asLink, asList, asTimestamp, asText } from '../json.js';
import { createItem, createContainer } from '../items.js';
import type { D360Article, D360Category, D360Language, D360ListedArticle, D360ProjectVersion } from './fields.js';

/** A parsed item id: a workspace, or a category or article in it. */
export interface ItemRef {
  readonly workspace: string;
  readonly category: string | null;
  readonly article: string | null;
}

const ID = /^[\w-]{1,64}$/;
const ITEM_IN_WORKSPACE = /^([\w-]{1,64})\/(category|article):([\w-]{1,64})$/;

/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): ItemRef | null {
  if (ID.test(externalId)) return { workspace: externalId, category: null, article: null };
  const [, workspace = '', kind, id = ''] = ITEM_IN_WORKSPACE.exec(externalId) ?? [];
  if (workspace === '') return null;
  return { workspace, category: kind === 'category' ? id : null, article: kind === 'article' ? id : null };
}

const MAX_NAME = 1_000;
const PUBLISHED_STATUS = 3;

/**
 * Returns a time as ISO 8601, or null. Document360 sends times in UTC without a time zone (`2024-06-13T14:30:00`),
 * which JavaScript would otherwise read as local times of this process.
 */
const utcTimestamp = (value: unknown): string | null => {
  const time = asText(value);
  return asTimestamp(time !== null && /T[\d:.]+$/.test(time) ? `${time}Z` : time);
};

/** A workspace; the API calls it a project version. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  /** The workspace's default language, in which its articles are read. */
  readonly language: string;
  readonly createdAt: string | null;
}

/** Parses a workspace; null if it is invalid. */
export function workspaceOf(json: Answer<D360ProjectVersion>): Workspace | null {
  const id = asText(json.id);
  if (id === null || !ID.test(id)) return null;
  const languages = asList(json.language_versions).map(asAnswer<D360Language>);
  const language = languages.find((candidate) => candidate.set_as_default === true) ?? languages[0];
  const number = json.version_number;
  const name = asText(json.version_code_name) ?? (typeof number === 'number' ? `v${number}` : id);
  return {
    id,
    name: name.slice(0, MAX_NAME),
    language: asText(language?.code) ?? 'en',
    createdAt: utcTimestamp(json.created_at),
  };
}

/** Converts a workspace. */
export const itemOfWorkspace = ({ id, name, createdAt }: Workspace): SourceItem =>
  createContainer({
    externalId: id,
    name,
    itemType: 'WORKSPACE',
    createdAt,
  });

const HIDDEN = 'It is hidden from the readers of its site. Make it visible in Document360, then sync again.';
const DRAFT = 'It is not published. Publish it in Document360, then sync again.';

/** Converts an article. Drafts and hidden articles are listed with a skip reason. */
function itemOfArticle(
  json: Answer<D360ListedArticle>,
  workspace: string,
  parent: string,
  isHidden: boolean,
): SourceItem | null {
  const id = asText(json.id);
  if (id === null || !ID.test(id)) return null;
  const { public_version: published, status } = json;
  const isPublished = status === PUBLISHED_STATUS || (typeof published === 'number' && published > 0);
  const isPublic = isPublished && !isHidden;
  const changed = utcTimestamp(json.modified_at);
  return createItem({
    externalId: `${workspace}/article:${id}`,
    parentExternalId: parent,
    rootExternalId: workspace,
    name: (asText(json.title) ?? id).slice(0, MAX_NAME),
    itemType: 'ARTICLE',
    fileFormat: 'HTML',
    isSelectable: isPublic,
    hasContent: isPublic,
    // The number of the published version, which may be missing, and the time of the change. Both change when the
    // article is published.
    version: changed === null ? null : `${typeof published === 'number' ? published : ''} ${changed}`,
    ...(isPublic ? {} : { skipReason: isPublished ? HIDDEN : DRAFT }),
  });
}

/** Returns the contents of a workspace, parents first. @param categories as a tree, with their articles */
export function itemsOfCategories(workspace: string, categories: readonly Answer<D360Category>[]): SourceItem[] {
  const items: SourceItem[] = [];
  // An explicit stack, so that deep nesting cannot overflow the call stack.
  const open = categories.map((category) => ({ category, parent: workspace, isHidden: false })).toReversed();
  for (let next = open.pop(); next; next = open.pop()) {
    const { category, parent } = next;
    const id = asText(category.id);
    if (id === null || !ID.test(id)) continue;
    const externalId = `${workspace}/category:${id}`;
    const isHidden = next.isHidden || category.hidden === true;
    items.push(
      createContainer({
        externalId,
        parentExternalId: parent,
        rootExternalId: workspace,
        name: (asText(category.name) ?? id).slice(0, MAX_NAME),
        itemType: 'CATEGORY',
        createdAt: utcTimestamp(category.created_at),
      }),
    );
    for (const article of asList(category.articles).map(asAnswer<D360ListedArticle>)) {
      const item = itemOfArticle(article, workspace, externalId, isHidden || article.hidden === true);
      if (item !== null) items.push(item);
    }
    const subcategories = asList(category.child_categories).map(asAnswer<D360Category>);
    open.push(...subcategories.map((child) => ({ category: child, parent: externalId, isHidden })).toReversed());
  }
  return items;
}

/** Returns an article's content: HTML from the editors that provide it, otherwise Markdown. */
export function contentOf(json: Answer<D360Article>, externalId: string): ItemContent {
  const title = asText(json.title) ?? '';
  const html = asText(json.html_content);
  const markdown = asText(json.content) ?? '';
  const text =
    html === null
      ? [`# ${title}`, markdown].join('\n\n')
      : `<!doctype html><html><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head><body><main><h1>${escapeHtml(title)}</h1>\n${html}</main></body></html>`;
  const type = html === null ? 'text/markdown' : 'text/html';
  const changed = utcTimestamp(json.modified_at);
  return {
    bytes: Buffer.from(text),
    contentType: `${type}; charset=utf-8`,
    format: 'DOCUMENT360',
    mimeType: type,
    name: title === '' ? null : title.slice(0, MAX_NAME),
    url: asLink(json.url) ?? externalId,
    fileMetadata: {
      type: 'ARTICLE',
      ...(asText(json.category_id) === null ? {} : { category_id: json.category_id }),
      ...(changed === null ? {} : { updated_at: changed }),
    },
  };
}

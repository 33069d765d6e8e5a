import type { ItemContent } from '../connector.js';
import type { SkippedItem, SourceItem } from '../sourceItem.js';
import { asText, type Site } from './api.js';
import { htmlOfStorage } from './storage.js';
import { escapeHtml } from '../html.js';
import { type Answer, asAnswer, asTimestamp, asObject } from '../json.js';
import { createItem, createContainer } from '../items.js';
import type { Content, Space, Version } from './fields.js';

/** Types of items, as named in API paths. */
export const KINDS = ['spaces', 'pages', 'blogposts', 'folders'] as const;
export type Kind = (typeof KINDS)[number];

/** A parsed item id. Page ids have no prefix; the others have a prefix for their type, such as `blog:`. */
export interface ItemRef {
  readonly kind: Kind;
  readonly id: string;
}

const WORDS: Readonly<Record<Exclude<Kind, 'pages'>, string>> = {
  spaces: 'space:',
  folders: 'folder:',
  blogposts: 'blog:',
};
const ID = /^\d{1,30}$/;

export const externalIdOf = ({ kind, id }: ItemRef): string => (kind === 'pages' ? id : `${WORDS[kind]}${id}`);

/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): ItemRef | null {
  const [kind, word] = Object.entries(WORDS).find(([, prefix]) => externalId.startsWith(prefix)) ?? ['pages', ''];
  const id = externalId.slice(word.length);
  return ID.test(id) ? { kind: kind as Kind, id } : null;
}

const idOf = (json: Answer<Content>): string | null => {
  const id = asText(json.id);
  return id !== null && ID.test(id) ? id : null;
};

/** Returns the URL for a user's browser. Links in answers are relative to the wiki's URL. */
const urlOf = (site: Site, json: Answer<Content>): string | null => {
  const path = asText(asObject(json._links)['webui']);
  return path !== null && path.startsWith('/') ? `${site.url}/wiki${path}` : null;
};

const MAX_NAME = 1_000;
const nameOf = (json: Answer<Space | Content>, key: 'name' | 'title', id: string): string =>
  (asText(json[key]) ?? id).slice(0, MAX_NAME);

/** Converts a space; null without an id. */
export function itemOfSpace(site: Site, json: Answer<Space>): SourceItem | null {
  const id = idOf(json);
  if (id === null) return null;
  return createContainer({
    externalId: externalIdOf({ kind: 'spaces', id }),
    name: nameOf(json, 'name', id),
    itemType: 'SPACE',
    externalUrl: urlOf(site, json),
    createdAt: asTimestamp(json.createdAt),
  });
}

/** Returns the parent. Whiteboards, databases and links are not items: their children belong to the space. */
function parentOf(json: Answer<Content>, spaceId: string): string {
  const [id, type] = [asText(json.parentId), asText(json.parentType)];
  const kind = type === 'folder' ? 'folders' : type === 'page' || type === null ? 'pages' : null;
  return id === null || kind === null || !ID.test(id)
    ? externalIdOf({ kind: 'spaces', id: spaceId })
    : externalIdOf({ kind, id });
}

/** Returns the id of the folder that contains a page or a folder; null for other parents. */
export const parentFolderId = (json: Answer<Content>): string | null =>
  asText(json.parentType) === 'folder' ? asText(json.parentId) : null;

/**
 * Converts a listed page, blog post or folder; null for drafts, archived or deleted ones, and invalid answers.
 * @param space its space, if the answer does not name it: answers for folders do not
 */
export function itemOfContent(
  site: Site,
  kind: Exclude<Kind, 'spaces'>,
  json: Answer<Content>,
  space: string | null = null,
): SourceItem | null {
  const [id, spaceId] = [idOf(json), asText(json.spaceId) ?? space];
  if (id === null || spaceId === null || (asText(json.status) ?? 'current') !== 'current') return null;
  const isFolder = kind === 'folders';
  const { number, createdAt } = asAnswer<Version>(json.version);
  return createItem({
    externalId: externalIdOf({ kind, id }),
    parentExternalId: parentOf(json, spaceId),
    rootExternalId: externalIdOf({ kind: 'spaces', id: spaceId }),
    name: nameOf(json, 'title', id),
    itemType: isFolder ? 'FOLDER' : 'PAGE',
    externalUrl: urlOf(site, json),
    fileFormat: isFolder ? null : 'HTML',
    // A listing does not show whether a page has children.
    isExpandable: kind !== 'blogposts',
    hasContent: !isFolder,
    createdAt: asTimestamp(json.createdAt),
    // Version numbers may repeat after a restore, so the creation date of the version is added.
    version: isFolder ? null : `${asText(number) ?? ''} ${asText(createdAt) ?? ''}`,
  });
}

/** Returns the entry for a child of a type that is not read; null for all others. */
export function skippedOf(child: Answer<Content>): SkippedItem | null {
  const [id, type] = [asText(child.id), asText(child.type)];
  if (id === null || type === null || type === 'page' || type === 'folder') return null;
  const reason = 'Only pages and blog posts of Confluence are read. Export it there, then upload the file.';
  return { externalId: `${type}:${id}`, name: nameOf(child, 'title', id), reason };
}

/** Returns a page's content as HTML. */
export function contentOf(site: Site, json: Answer<Content>, externalId: string): ItemContent {
  const title = asText(json.title) ?? '';
  const storage = asText(asObject(asObject(json.body)['storage'])['value']) ?? '';
  const { number, createdAt } = asAnswer<Version>(json.version);
  const facts = {
    space_id: asText(json.spaceId),
    parent_external_file_id: asText(json.parentId),
    version: number,
    updated_at: asTimestamp(createdAt),
  };
  return {
    bytes: Buffer.from(
      `<!doctype html><html><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head><body><main><h1>${escapeHtml(title)}</h1>\n${htmlOfStorage(storage)}</main></body></html>`,
    ),
    contentType: 'text/html; charset=utf-8',
    format: 'CONFLUENCE',
    mimeType: 'text/html',
    name: title === '' ? null : title.slice(0, MAX_NAME),
    url: urlOf(site, json) ?? externalId,
    fileMetadata: {
      type: 'PAGE',
      ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null && value !== undefined)),
    },
  };
}

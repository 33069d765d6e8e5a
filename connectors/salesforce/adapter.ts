import { formatOfName, mimeTypeOf } from '../../contract/files/fileFormats.js';
import type { ItemContent } from '../connector.js';
import type { SourceItem } from '../sourceItem.js';
import { isId } from './soql.js';
import { escapeHtml } from '../html.js';
import { asObject, asText, type Json } from '../json.js';
import { createItem, createContainer } from '../items.js';

/** Root containers that are not libraries. */
export const LOOSE_FILES = 'files';
const KNOWLEDGE = 'knowledge';

/** A parsed item id. */
export type ItemRef =
  | { readonly kind: 'loose' | 'knowledge' }
  | { readonly kind: 'library' | 'folder'; readonly id: string }
  | { readonly kind: 'file'; readonly id: string }
  | { readonly kind: 'article'; readonly id: string; readonly language: string };

const LANGUAGE = /^[a-z]{2,3}(?:_[A-Za-z0-9]{1,8}){0,2}$/;
const isKind = (kind: string): kind is 'library' | 'folder' | 'file' => /^(?:library|folder|file)$/.test(kind);

/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): ItemRef | null {
  if (externalId === LOOSE_FILES) return { kind: 'loose' };
  if (externalId === KNOWLEDGE) return { kind: 'knowledge' };
  const [kind = '', id = '', language, ...more] = externalId.split(/[:/]/);
  if (!isId(id) || more.length > 0) return null;
  if (kind === 'article') return language && LANGUAGE.test(language) ? { kind, id, language } : null;
  return language === undefined && isKind(kind) ? { kind, id } : null;
}

/** Parent and root of an item. */
export interface ItemParents {
  readonly parent: string | null;
  readonly root: string | null;
}

const container = (
  externalId: string,
  name: string,
  { parent, root }: ItemParents,
  externalUrl: string | null,
): SourceItem =>
  createContainer({
    externalId,
    parentExternalId: parent,
    rootExternalId: root,
    name,
    itemType: 'FOLDER',
    externalUrl,
  });
const OUTERMOST: ItemParents = { parent: null, root: null };

/** Returns the URL of a record. @param site URL of the organization for a user's browser */
const recordUrl = (site: string, kind: string, id: string): string => `${site}/lightning/r/${kind}/${id}/view`;

export const itemOfLibrary = (row: Json, site: string): SourceItem => {
  const id = asText(row['Id']) ?? '';
  return container(`library:${id}`, asText(row['Name']) ?? id, OUTERMOST, recordUrl(site, 'ContentWorkspace', id));
};
export const itemOfLooseFiles = (): SourceItem => container(LOOSE_FILES, 'Files outside of libraries', OUTERMOST, null);
export const itemOfKnowledge = (): SourceItem => container(KNOWLEDGE, 'Knowledge', OUTERMOST, null);
export const itemOfFolder = (id: string, name: string, itemPlace: ItemParents): SourceItem =>
  container(`folder:${id}`, name, itemPlace, null);

/** The file fields to request. */
export const FILE_FIELDS = [
  ...['Id', 'Title', 'FileExtension', 'FileType', 'ParentId', 'CreatedDate', 'LatestPublishedVersionId'],
  'LatestPublishedVersion.ContentLocation',
];
const dateOf = (value: unknown): string | null => {
  const text = asText(value);
  return text !== null && !Number.isNaN(Date.parse(text)) ? text : null;
};
/** Returns the name of a file: titles have no extension. */
const nameOfFile = (row: Json): string => {
  const [title, ending] = [asText(row['Title']) ?? asText(row['Id']) ?? '', asText(row['FileExtension'])];
  return ending === null || title.toLowerCase().endsWith(`.${ending.toLowerCase()}`) ? title : `${title}.${ending}`;
};
/** Whether Salesforce stores the file's bytes; links and files of other systems have none there. */
const hasBytes = (row: Json): boolean =>
  asText(row['LatestPublishedVersionId']) !== null &&
  (asText(asObject(row['LatestPublishedVersion'])['ContentLocation']) ?? 'S') === 'S' &&
  asText(row['FileType']) !== 'LINK';

/** Skip reason of a file without bytes. */
export const ELSEWHERE =
  'This Salesforce file is a link to another system. Connect that system, and sync the file there.';

/** Converts a file; links and files of other systems are not selectable. */
export function itemOfFile(row: Json, itemPlace: ItemParents, site: string): SourceItem {
  const id = asText(row['Id']) ?? '';
  const name = nameOfFile(row);
  return createItem({
    externalId: `file:${id}`,
    parentExternalId: itemPlace.parent,
    rootExternalId: itemPlace.root,
    name,
    itemType: 'FILE',
    externalUrl: recordUrl(site, 'ContentDocument', id),
    fileFormat: formatOfName(name),
    isSelectable: hasBytes(row),
    hasContent: hasBytes(row),
    createdAt: dateOf(row['CreatedDate']),
    version: asText(row['LatestPublishedVersionId']),
    ...(hasBytes(row) ? {} : { skipReason: ELSEWHERE }),
  });
}

/** Returns a file's content. Its media type is that of its name; notes are HTML. */
export function contentOfFile(row: Json, bytes: Uint8Array, site: string): ItemContent {
  const name = nameOfFile(row);
  const id = asText(row['Id']) ?? '';
  // The content of a note is an HTML fragment.
  const isNote = asText(row['FileType']) === 'SNOTE';
  const format = formatOfName(name);
  const type = isNote ? 'text/html; charset=utf-8' : format === null ? 'application/octet-stream' : mimeTypeOf(format);
  return {
    bytes,
    contentType: type,
    format: null,
    mimeType: type.split(';')[0] ?? type,
    name,
    url: recordUrl(site, 'ContentDocument', id),
    fileMetadata: { type: 'FILE' },
  };
}

/** Fields of an article, in addition to the custom fields of its organization. */
export const ARTICLE_FIELDS = [
  ...['Id', 'KnowledgeArticleId', 'Title', 'Summary', 'Language', 'UrlName', 'CreatedDate', 'SystemModstamp'],
];

/** Converts an article; null for one without an id. */
export function itemOfArticle(row: Json, site: string): SourceItem | null {
  const [article, language] = [asText(row['KnowledgeArticleId']), asText(row['Language'])];
  const version = asText(row['Id']);
  if (article === null || language === null || version === null) return null;
  return createItem({
    externalId: `article:${article}/${language}`,
    parentExternalId: KNOWLEDGE,
    rootExternalId: KNOWLEDGE,
    name: asText(row['Title']) ?? article,
    itemType: 'ARTICLE',
    externalUrl: recordUrl(site, 'Knowledge__kav', version),
    hasContent: true,
    createdAt: dateOf(row['CreatedDate']),
    version: `${version}/${asText(row['SystemModstamp']) ?? ''}`,
  });
}

/** A text field of an article. */
interface BodyField {
  readonly name: string;
  readonly label: string;
  /** Whether it contains HTML. */
  readonly isHtml: boolean;
}

/** Returns an organization's custom text fields of articles, from Salesforce's description of the object type. */
export const bodyFieldsOf = (fields: readonly unknown[]): readonly BodyField[] =>
  fields
    .map(asObject)
    .flatMap(({ name, label, custom, type, htmlFormatted }) =>
      custom === true &&
      (type === 'textarea' || type === 'string') &&
      typeof name === 'string' &&
      /^\w{1,80}__c$/.test(name)
        ? [{ name, label: asText(label) ?? name, isHtml: htmlFormatted === true }]
        : [],
    );

/** Returns an article's content: title, summary, and its texts under their field labels. */
export function contentOfArticle(row: Json, fields: readonly BodyField[], site: string): ItemContent {
  const title = asText(row['Title']) ?? '';
  const summary = asText(row['Summary']);
  const texts = fields.flatMap(({ name, label, isHtml }) => {
    const text = asText(row[name]);
    return text === null ? [] : [`<h2>${escapeHtml(label)}</h2>`, isHtml ? text : `<p>${escapeHtml(text)}</p>`];
  });
  const html = [
    `<h1>${escapeHtml(title)}</h1>`,
    ...(summary === null ? [] : [`<p>${escapeHtml(summary)}</p>`]),
    ...texts,
  ];
  return {
    bytes: Buffer.from(html.join('\n')),
    contentType: 'text/html; charset=utf-8',
    format: 'SALESFORCE',
    mimeType: 'text/html',
    name: title || null,
    url: recordUrl(site, 'Knowledge__kav', asText(row['Id']) ?? ''),
    fileMetadata: { type: 'ARTICLE', language: asText(row['Language']) },
  };
}

import { formatOfName, mimeTypeOf } from '../../contract/fileFormats.js';
import type { ItemContent, SourceItem } from '../connector.js';
import { isId, objectOf, type Row, textOf } from './soql.js';

/** The outermost containers that are no libraries. */
export const LOOSE_FILES = 'files';
const KNOWLEDGE = 'knowledge';

/** What an item of ours is. */
export type Place =
  | { readonly kind: 'loose' | 'knowledge' }
  | { readonly kind: 'library' | 'folder'; readonly id: string }
  | { readonly kind: 'file'; readonly id: string }
  | { readonly kind: 'article'; readonly id: string; readonly language: string };

const LANGUAGE = /^[a-z]{2,3}(?:_[A-Za-z0-9]{1,8}){0,2}$/;
const isKind = (kind: string): kind is 'library' | 'folder' | 'file' => /^(?:library|folder|file)$/.test(kind);

/** Null for what is no id of ours. */
export function placeOf(externalId: string): Place | null {
  if (externalId === LOOSE_FILES) return { kind: 'loose' };
  if (externalId === KNOWLEDGE) return { kind: 'knowledge' };
  const [kind = '', id = '', language, ...more] = externalId.split(/[:/]/);
  if (!isId(id) || more.length > 0) return null;
  if (kind === 'article') return language && LANGUAGE.test(language) ? { kind, id, language } : null;
  return language === undefined && isKind(kind) ? { kind, id } : null;
}

/** Where something lies. */
export interface Lies {
  readonly parent: string | null;
  readonly root: string | null;
}

const container = (
  externalId: string,
  name: string,
  { parent, root }: Lies,
  externalUrl: string | null,
): SourceItem => ({
  externalId,
  parentExternalId: parent,
  rootExternalId: root,
  name,
  itemType: 'FOLDER',
  externalUrl,
  fileFormat: null,
  isSelectable: true,
  isExpandable: true,
  hasContent: false,
  createdAt: null,
  version: null,
});
const OUTERMOST: Lies = { parent: null, root: null };

/** @param site where the organization is, as people open it */
const viewOf = (site: string, kind: string, id: string): string => `${site}/lightning/r/${kind}/${id}/view`;

export const itemOfLibrary = (row: Row, site: string): SourceItem => {
  const id = textOf(row['Id']) ?? '';
  return container(`library:${id}`, textOf(row['Name']) ?? id, OUTERMOST, viewOf(site, 'ContentWorkspace', id));
};
export const itemOfLooseFiles = (): SourceItem => container(LOOSE_FILES, 'Files outside of libraries', OUTERMOST, null);
export const itemOfKnowledge = (): SourceItem => container(KNOWLEDGE, 'Knowledge', OUTERMOST, null);
export const itemOfFolder = (id: string, name: string, lies: Lies): SourceItem =>
  container(`folder:${id}`, name, lies, null);

/** What is asked of a file. */
export const FILE_FIELDS = [
  ...['Id', 'Title', 'FileExtension', 'FileType', 'ParentId', 'CreatedDate', 'LatestPublishedVersionId'],
  'LatestPublishedVersion.ContentLocation',
];
const dateOf = (value: unknown): string | null => {
  const text = textOf(value);
  return text !== null && !Number.isNaN(Date.parse(text)) ? text : null;
};
/** As its file is called: titles come without an ending. */
const nameOfFile = (row: Row): string => {
  const [title, ending] = [textOf(row['Title']) ?? textOf(row['Id']) ?? '', textOf(row['FileExtension'])];
  return ending === null || title.toLowerCase().endsWith(`.${ending.toLowerCase()}`) ? title : `${title}.${ending}`;
};
/** Whether its bytes are Salesforce's: links, and what lies in another system, have none. */
const hasBytes = (row: Row): boolean =>
  textOf(row['LatestPublishedVersionId']) !== null &&
  (textOf(objectOf(row['LatestPublishedVersion'])['ContentLocation']) ?? 'S') === 'S' &&
  textOf(row['FileType']) !== 'LINK';

/** What there is to say of a file without bytes. */
export const ELSEWHERE =
  'This file of Salesforce is a link to something elsewhere. Connect what it leads to, and sync it there.';

export function itemOfFile(row: Row, lies: Lies, site: string): SourceItem {
  const id = textOf(row['Id']) ?? '';
  const name = nameOfFile(row);
  return {
    externalId: `file:${id}`,
    parentExternalId: lies.parent,
    rootExternalId: lies.root,
    name,
    itemType: 'FILE',
    externalUrl: viewOf(site, 'ContentDocument', id),
    fileFormat: formatOfName(name),
    isSelectable: hasBytes(row),
    isExpandable: false,
    hasContent: hasBytes(row),
    createdAt: dateOf(row['CreatedDate']),
    version: textOf(row['LatestPublishedVersionId']),
    ...(hasBytes(row) ? {} : { leftOut: ELSEWHERE }),
  };
}

export function contentOfFile(row: Row, bytes: Uint8Array, site: string): ItemContent {
  const name = nameOfFile(row);
  const id = textOf(row['Id']) ?? '';
  // A note is a piece of HTML.
  const isNote = textOf(row['FileType']) === 'SNOTE';
  const format = formatOfName(name);
  const type = isNote ? 'text/html; charset=utf-8' : format === null ? 'application/octet-stream' : mimeTypeOf(format);
  return {
    bytes,
    contentType: type,
    format: null,
    mimeType: type.split(';')[0] ?? type,
    name,
    url: viewOf(site, 'ContentDocument', id),
    facts: { type: 'FILE' },
  };
}

/** What is asked of an article, beside what its organization has added to it. */
export const ARTICLE_FIELDS = [
  ...['Id', 'KnowledgeArticleId', 'Title', 'Summary', 'Language', 'UrlName', 'CreatedDate', 'SystemModstamp'],
];

/** An article; null for one that names none. */
export function itemOfArticle(row: Row, site: string): SourceItem | null {
  const [article, language] = [textOf(row['KnowledgeArticleId']), textOf(row['Language'])];
  const version = textOf(row['Id']);
  if (article === null || language === null || version === null) return null;
  return {
    externalId: `article:${article}/${language}`,
    parentExternalId: KNOWLEDGE,
    rootExternalId: KNOWLEDGE,
    name: textOf(row['Title']) ?? article,
    itemType: 'ARTICLE',
    externalUrl: viewOf(site, 'Knowledge__kav', version),
    fileFormat: null,
    isSelectable: true,
    isExpandable: false,
    hasContent: true,
    createdAt: dateOf(row['CreatedDate']),
    version: `${version}/${textOf(row['SystemModstamp']) ?? ''}`,
  };
}

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A field of an article's body. */
interface BodyField {
  readonly name: string;
  readonly label: string;
  /** Whether it has markup in it. */
  readonly isHtml: boolean;
}

/** The fields of an article that an organization writes its texts into, out of what Salesforce says of the kind. */
export const bodyFieldsOf = (fields: readonly unknown[]): readonly BodyField[] =>
  fields
    .map(objectOf)
    .flatMap(({ name, label, custom, type, htmlFormatted }) =>
      custom === true &&
      (type === 'textarea' || type === 'string') &&
      typeof name === 'string' &&
      /^\w{1,80}__c$/.test(name)
        ? [{ name, label: textOf(label) ?? name, isHtml: htmlFormatted === true }]
        : [],
    );

/** An article as a page: its title, what it is about, and its texts under their names. */
export function contentOfArticle(row: Row, fields: readonly BodyField[], site: string): ItemContent {
  const title = textOf(row['Title']) ?? '';
  const summary = textOf(row['Summary']);
  const texts = fields.flatMap(({ name, label, isHtml }) => {
    const text = textOf(row[name]);
    return text === null ? [] : [`<h2>${escape(label)}</h2>`, isHtml ? text : `<p>${escape(text)}</p>`];
  });
  const html = [`<h1>${escape(title)}</h1>`, ...(summary === null ? [] : [`<p>${escape(summary)}</p>`]), ...texts];
  return {
    bytes: Buffer.from(html.join('\n')),
    contentType: 'text/html; charset=utf-8',
    format: 'SALESFORCE',
    mimeType: 'text/html',
    name: title || null,
    url: viewOf(site, 'Knowledge__kav', textOf(row['Id']) ?? ''),
    facts: { type: 'ARTICLE', language: textOf(row['Language']) },
  };
}

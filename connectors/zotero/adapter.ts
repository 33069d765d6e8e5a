import { formatOfName } from '../../contract/files/fileFormats.js';
import type { ItemContent } from '../connector.js';
import type { SourceItem } from '../sourceItem.js';
import { asObject, asObjects, asTrimmed, type Json } from '../json.js';
import { createItem, createContainer, fileBytes } from '../items.js';

/** A library's id is its path in the API: `users/475`, `groups/12`. */
const LIBRARY = /^(?:users|groups)\/\d{1,15}$/;
const KEY = /^[A-Z0-9]{8}$/;
export const isKey = (text: string): boolean => KEY.test(text);

/** A parsed item id: a library, a collection, or an item. */
export interface ItemRef {
  readonly library: string;
  readonly kind: 'library' | 'collection' | 'item';
  readonly key: string;
}

/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): ItemRef | null {
  const [kind = '', number = '', what, key = '', ...more] = externalId.split('/');
  const library = `${kind}/${number}`;
  if (!LIBRARY.test(library) || more.length > 0) return null;
  if (what === undefined) return { library, kind: 'library', key: '' };
  if (!isKey(key)) return null;
  if (what === 'collections') return { library, kind: 'collection', key };
  return what === 'items' ? { library, kind: 'item', key } : null;
}
export const itemId = (library: string, key: string): string => `${library}/items/${key}`;
const collectionId = (library: string, key: string): string => `${library}/collections/${key}`;

const container = (
  externalId: string,
  name: string,
  parent: string | null,
  root: string | null,
  url: string | null,
): SourceItem =>
  createContainer({
    externalId,
    parentExternalId: parent,
    rootExternalId: root,
    name,
    itemType: 'FOLDER',
    externalUrl: url,
  });

/** Returns the URL for a user's browser, from Zotero's answer. */
const linkOf = (json: Json): string | null => asTrimmed(asObject(asObject(json['links'])['alternate'])['href']) || null;

export const itemOfLibrary = (library: string, name: string, url: string | null): SourceItem =>
  container(library, name || library, null, null, url);

export const itemOfGroup = (json: Json): SourceItem | null => {
  const library = `groups/${String(json['id'])}`;
  return LIBRARY.test(library) ? itemOfLibrary(library, asTrimmed(asObject(json['data'])['name']), linkOf(json)) : null;
};

/** A collection with its library and parent. */
export interface Collection {
  readonly key: string;
  readonly parent: string | null;
  readonly item: SourceItem;
}

/** Parses a collection; null if it is invalid. */
export function readCollection(json: Json, library: string): Collection | null {
  const data = asObject(json['data']);
  const [key, above] = [asTrimmed(json['key']), asTrimmed(data['parentCollection'])];
  if (!isKey(key)) return null;
  const parent = isKey(above) ? above : null;
  const parentId = parent === null ? library : collectionId(library, parent);
  const item = container(collectionId(library, key), asTrimmed(data['name']) || key, parentId, library, linkOf(json));
  return { key, parent, item };
}

/** Link modes of stored files; others are links to the web or to a user's disk. */
const STORED_LINK_MODES = new Set(['imported_file', 'imported_url']);
const isStored = (data: Json): boolean => STORED_LINK_MODES.has(asTrimmed(data['linkMode']));
/**
 * Whether Zotero has the file of a stored attachment: then its answer contains a link to the file. Users may keep files
 * on a server of their own.
 */
const hasFile = (json: Json): boolean => asTrimmed(asObject(asObject(json['links'])['enclosure'])['href']) !== '';
const isAttachment = (data: Json): boolean => data['itemType'] === 'attachment';
const isNote = (data: Json): boolean => data['itemType'] === 'note';

/** Whether an item is a highlight in a file; highlights do not become files. */
const isAnnotation = (json: Json): boolean => asObject(json['data'])['itemType'] === 'annotation';
export const isTrashed = (json: Json): boolean => {
  const { deleted } = asObject(json['data']);
  return deleted === 1 || deleted === true;
};

/** Maximum length of the part of a note, in characters, that its name is taken from. */
const MAX_NAMED_FROM = 1_000_000;
/**
 * Returns the words at the beginning of a note. The metadata of all items that a note cites is in an attribute of its
 * outer element, so the first tag may be long:
 * https://github.com/zotero/note-editor/blob/master/src/core/schema/README.md (data-citation-items)
 */
const wordsOf = (html: string): string =>
  html
    .slice(0, MAX_NAMED_FROM)
    .replace(/^\s*<[^<>]*>/, '')
    .slice(0, 2_000)
    .replaceAll(/<[^<>]*>/g, ' ')
    .replace(/<[^<>]*$/, '')
    .replaceAll(/&[a-z#0-9]+;/gi, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
const MAX_NAME = 120;
const fileNameOf = (data: Json): string => asTrimmed(data['filename']) || asTrimmed(data['title']);
/**
 * Fields that contain the title: cases, statutes and e-mails have a field of their own instead of `title`.
 * https://raw.githubusercontent.com/zotero/zotero-schema/master/schema.json (baseField)
 */
const TITLE_FIELDS = ['title', 'caseName', 'nameOfAct', 'subject'] as const;
const titleOf = (data: Json): string => TITLE_FIELDS.map((field) => asTrimmed(data[field])).find(Boolean) ?? '';
const nameOf = (data: Json, key: string): string => {
  if (isNote(data)) return wordsOf(asTrimmed(data['note'])).slice(0, MAX_NAME) || key;
  return (isAttachment(data) ? fileNameOf(data) : titleOf(data)) || key;
};

/** Error of an attachment that is only a link to a file. */
const LINK = 'The attachment is a link: Zotero does not store its file. Upload the file, or store it in Zotero.';

/** Error of an attachment whose file should be stored in Zotero, but is not. */
const ELSEWHERE =
  'Zotero does not have the file: it was not uploaded yet, or is stored on a WebDAV server. Store it in Zotero, or upload it to this service.';

/** Converts an item; null for one without a key, and for an annotation. */
export function itemOfJson(json: Json, library: string): SourceItem | null {
  const data = asObject(json['data']);
  const key = asTrimmed(json['key']);
  if (!isKey(key) || isAnnotation(json)) return null;
  const [parent, collection] = [
    asTrimmed(data['parentItem']),
    (data['collections'] as readonly unknown[] | undefined)?.[0],
  ];
  const parentId = isKey(parent)
    ? itemId(library, parent)
    : isKey(asTrimmed(collection))
      ? collectionId(library, asTrimmed(collection))
      : library;
  const isFile = isAttachment(data);
  const hasContent = !isFile || (isStored(data) && hasFile(json));
  const added = asTrimmed(data['dateAdded']);
  return createItem({
    externalId: itemId(library, key),
    parentExternalId: parentId,
    rootExternalId: library,
    name: nameOf(data, key),
    itemType: 'FILE',
    externalUrl: linkOf(json),
    fileFormat: isFile ? formatOfName(fileNameOf(data)) : isNote(data) ? 'HTML' : 'MD',
    isSelectable: hasContent,
    isExpandable: Number(asObject(json['meta'])['numChildren'] ?? 0) > 0,
    hasContent,
    createdAt: Number.isNaN(Date.parse(added)) ? null : added,
    // The metadata of a stored file may change without its content.
    version:
      (isFile && asTrimmed(data['md5'])) || (typeof json['version'] === 'number' ? String(json['version']) : null),
    ...(hasContent ? {} : { skipReason: isStored(data) ? ELSEWHERE : LINK }),
  });
}

const LABELLED_FIELDS: readonly (readonly [label: string, field: string])[] = [
  ['In', 'publicationTitle'],
  ['In', 'bookTitle'],
  ['Proceedings', 'proceedingsTitle'],
  ['Publisher', 'publisher'],
  ['Date', 'date'],
  ['Volume', 'volume'],
  ['Issue', 'issue'],
  ['Pages', 'pages'],
  ['DOI', 'DOI'],
  ['ISBN', 'ISBN'],
  ['URL', 'url'],
  ['Language', 'language'],
  ['Extra', 'extra'],
];

const creatorsOf = (data: Json): string =>
  asObjects(data['creators'])
    .map(({ firstName, lastName, name, creatorType }) => {
      const who = asTrimmed(name) || [asTrimmed(firstName), asTrimmed(lastName)].filter(Boolean).join(' ');
      return asTrimmed(creatorType) === 'author' || who === '' ? who : `${who} (${asTrimmed(creatorType)})`;
    })
    .filter(Boolean)
    .join(', ');

/** Renders a bibliographic item as Markdown: title, authors, publication and abstract. */
function markdownOf(data: Json, key: string): string {
  const tags = asObjects(data['tags'])
    .map(({ tag }) => asTrimmed(tag))
    .filter(Boolean);
  const facts = [
    ['By', creatorsOf(data)],
    ...LABELLED_FIELDS.map(([label, field]) => [label, asTrimmed(data[field])]),
    ['Tags', tags.join(', ')],
  ].flatMap(([label, value]) => (value ? [`- ${label}: ${value}`] : []));
  return [`# ${nameOf(data, key)}`, facts.join('\n'), asTrimmed(data['abstractNote'])].filter(Boolean).join('\n\n');
}

/** Whether the content of an item is a stored file. */
export const isStoredFile = (json: Json): boolean => {
  const data = asObject(json['data']);
  return isAttachment(data) && isStored(data);
};
/** Returns why an attachment has no content; null for an attachment with content, and for other items. */
export function explainMissing(json: Json): string | null {
  if (!isAttachment(asObject(json['data']))) return null;
  if (!isStoredFile(json)) return LINK;
  return hasFile(json) ? null : ELSEWHERE;
}

/** Returns an item's content. @param file bytes of the stored file; null for an item that is rendered as text */
export function contentOf(json: Json, library: string, file: Uint8Array | null): ItemContent {
  const data = asObject(json['data']);
  const key = asTrimmed(json['key']);
  const common = { format: null, name: nameOf(data, key), url: linkOf(json) ?? itemId(library, key) };
  const facts = { type: asTrimmed(data['itemType']), library };
  if (file !== null) {
    const parent = asTrimmed(data['parentItem']);
    const attached = isKey(parent) ? { parent_external_file_id: itemId(library, parent) } : {};
    return {
      ...common,
      ...fileBytes(file, asTrimmed(data['contentType']), fileNameOf(data)),
      fileMetadata: { ...facts, ...attached },
    };
  }
  const [text, mimeType] = isNote(data)
    ? [asTrimmed(data['note']), 'text/html']
    : [markdownOf(data, key), 'text/markdown'];
  return {
    ...common,
    bytes: Buffer.from(text),
    contentType: `${mimeType}; charset=utf-8`,
    mimeType,
    fileMetadata: facts,
  };
}

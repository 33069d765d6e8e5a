import { formatOfName, mimeTypeOf } from '../../contract/files/fileFormats.js';
import type { ItemContent } from '../connector.js';
import type { SourceItem } from '../sourceItem.js';
import { type Answer, asAnswer, asLink, asList, asTimestamp, asName, asObject, asText, omitNull } from '../json.js';
import { createItem } from '../items.js';
import type { BoxItem, BoxItems } from './fields.js';

type Item = Answer<BoxItem>;

/** The item fields to request. */
export const ITEM_FIELDS =
  'type,id,name,size,sha1,etag,url,created_at,modified_at,content_modified_at,parent,path_collection,item_status';

/** Types of Box objects; ids are unique within a type only. */
export type Kind = 'file' | 'folder' | 'web_link';
export interface ItemRef {
  readonly kind: Kind;
  readonly id: string;
}
/** Id of the root folder. */
export const ROOT = '0';

const KINDS: readonly unknown[] = ['file', 'folder', 'web_link'] satisfies Kind[];
const isKind = (value: unknown): value is Kind => KINDS.includes(value);
const ID = /^(?:(folder|web_link):)?(\d{1,20})$/;

/** Returns the item id: the number alone for a file, as in Box's URLs; with its type for folders and links. */
export const idOf = ({ kind, id }: ItemRef): string => (kind === 'file' ? id : `${kind}:${id}`);
/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): ItemRef | null {
  const [, kind, id] = ID.exec(externalId) ?? [];
  if (id === undefined) return null;
  return { kind: isKind(kind) ? kind : 'file', id };
}
/** Returns the type and id of an item in an answer; null if it is not a file, folder or link. */
export function placeIn(item: Item): ItemRef | null {
  const { type, id } = item;
  return isKind(type) && typeof id === 'string' && /^\d{1,20}$/.test(id) ? { kind: type, id } : null;
}

const isUndeleted = ({ item_status: status }: Item): boolean => status !== 'trashed' && status !== 'deleted';

/** Returns the item ids of the folders above an item, outermost first, without the root. */
const ancestorFolders = (item: Item): readonly string[] =>
  asList(asAnswer<BoxItems>(item.path_collection).entries).flatMap((entry) => {
    const itemRef = placeIn({ type: 'folder', ...asObject(entry) });
    return itemRef === null || itemRef.id === ROOT ? [] : [idOf(itemRef)];
  });

const addressOf = ({ kind, id }: ItemRef, item: Item): string =>
  (kind === 'web_link' ? asLink(item.url) : null) ?? `https://app.box.com/${kind}/${id}`;

const ITEM_TYPES: Readonly<Record<Kind, string>> = { file: 'FILE', folder: 'FOLDER', web_link: 'LINK' };

/**
 * Returns a value that changes with the content. It includes the name, because the extension may decide the parser.
 */
const versionOf = (item: Item, name: string): string | null => {
  const content = asText(item.sha1) ?? asText(item.etag);
  return content === null ? null : `${content} ${name}`;
};

/** Converts a Box file, folder or link; null for other types, and for items in the trash. */
export function itemOf(item: Item): SourceItem | null {
  const itemRef = placeIn(item);
  if (itemRef === null || !isUndeleted(item)) return null;
  const { kind } = itemRef;
  const name = asName(item.name) ?? itemRef.id;
  const above = ancestorFolders(item);
  const parent = asText(asAnswer<BoxItem>(item.parent).id);
  const isFile = kind === 'file';
  return createItem({
    externalId: idOf(itemRef),
    parentExternalId: parent === null || parent === ROOT ? null : idOf({ kind: 'folder', id: parent }),
    rootExternalId: above[0] ?? null,
    name,
    itemType: ITEM_TYPES[kind],
    externalUrl: addressOf(itemRef, item),
    fileFormat: isFile ? (isNote(name) ? 'MD' : formatOfName(name)) : null,
    // A link points to a page outside Box.
    isSelectable: kind !== 'web_link',
    isExpandable: kind === 'folder',
    // A link gets a file too. Its sync_error_message says that a link has no content.
    hasContent: kind !== 'folder',
    createdAt: asTimestamp(item.created_at),
    version: isFile ? versionOf(item, name) : null,
  });
}

/** Whether a file is a Box Note, by its name. */
export const isNote = (name: string): boolean => /\.boxnote$/i.test(name);

/** The content of a file. @param text a note as Markdown; null: its bytes are its content */
export function contentOf(
  item: Item,
  bytes: Uint8Array,
  declared: string | undefined,
  text: string | null,
): ItemContent {
  const itemRef = placeIn(item) ?? { kind: 'file', id: '' };
  const name = asName(item.name);
  const format = text === null ? formatOfName(name ?? '') : 'MD';
  // Box stores no media types. It derives the declared type from the name, with fewer extensions than formatOfName.
  const type = format === null ? (declared ?? 'application/octet-stream') : mimeTypeOf(format);
  return {
    bytes: text === null ? bytes : Buffer.from(text),
    contentType: type,
    format: null,
    mimeType: type.split(';')[0]?.trim() ?? type,
    name,
    url: addressOf(itemRef, item),
    fileMetadata: {
      type: 'FILE',
      is_folder: false,
      ...omitNull({
        sha1: asText(item.sha1),
        etag: asText(item.etag),
        modified_at: asTimestamp(item.content_modified_at),
      }),
    },
  };
}

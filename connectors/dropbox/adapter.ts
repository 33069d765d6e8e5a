import { createHash } from 'node:crypto';

import { formatOfName, mimeTypeOf } from '../../contract/files/fileFormats.js';
import type { ItemContent } from '../connector.js';
import type { SourceItem } from '../sourceItem.js';
import { type Answer, asAnswer, asList, asTimestamp, asName, asText, omitNull } from '../json.js';
import { createItem } from '../items.js';
import type { DropboxEntry, ExportInfo, SharingInfo } from './fields.js';

type Entry = Answer<DropboxEntry>;

const ID = /^id:[\w-]{1,200}$/;
export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value);

/** Returns an entry's path in lower case, because Dropbox ignores the case of paths; null if it has none. */
export const pathOf = (entry: Entry): string | null => asText(entry.path_lower);
/** Returns the paths of the folders above a path, outermost first. */
export const ancestorPaths = (path: string): readonly string[] =>
  [...path.matchAll(/\//g)].flatMap(({ index }) => (index > 0 ? [path.slice(0, index)] : []));

export const isFolder = (entry: Entry): boolean => entry['.tag'] === 'folder';
export const isDeleted = (entry: Entry): boolean => entry['.tag'] === 'deleted';

const addressOf = (entry: Entry): string | null => {
  const path = asText(entry.path_display) ?? pathOf(entry);
  if (path === null) return null;
  const parts = path.split('/').map(encodeURIComponent);
  const name = parts.at(-1) ?? '';
  const folderUrl = `https://www.dropbox.com/home${parts.slice(0, -1).join('/')}`;
  return (isFolder(entry) ? `https://www.dropbox.com/home${parts.join('/')}` : `${folderUrl}?preview=${name}`).slice(
    0,
    2_048,
  );
};

/**
 * Returns the export format of a document that Dropbox stores in its own format, where `format: null` is Dropbox's
 * default format; 'none' if the document cannot be exported; null if the file itself can be downloaded.
 */
export function exportOf(file: Entry): { readonly format: string | null } | 'none' | null {
  if (file.is_downloadable !== false) return null;
  const { export_as: defaultFormat, export_options: options } = asAnswer<ExportInfo>(file.export_info);
  // Preferred: Markdown keeps headings, lists and tables.
  if (asList(options).includes('markdown')) return { format: 'markdown' };
  return asText(defaultFormat) === null ? 'none' : { format: null };
}

const MARKDOWN = /\.(?:paper|papert)$/i;
function listedFormat(file: Entry, name: string): SourceItem['fileFormat'] {
  const exported = exportOf(file);
  if (exported === 'none') return null;
  if (exported === null) return formatOfName(name);
  const defaultFormat = asText(asAnswer<ExportInfo>(file.export_info).export_as) ?? '';
  return exported.format === 'markdown' || MARKDOWN.test(name) ? 'MD' : formatOfName(`a.${defaultFormat}`);
}

/**
 * Returns a value that changes with the content. It includes the name, because the extension may decide the parser.
 */
const versionOf = (file: Entry, name: string): string | null => {
  const content = asText(file.content_hash) ?? asText(file.rev);
  return content === null ? null : `${content} ${name}`;
};

/** Ids of an entry's parent folder and of its root folder. */
export interface EntryParents {
  readonly parent: string | null;
  readonly root: string | null;
}

/** Converts a file or folder; null for other entries. */
export function itemOf(entry: Entry, { parent, root }: EntryParents): SourceItem | null {
  const { id, sharing_info: sharing } = entry;
  const isFile = entry['.tag'] === 'file';
  if (!isId(id) || (!isFile && !isFolder(entry))) return null;
  const name = asName(entry.name) ?? id;
  // Listings also contain those folders of a team that the account cannot open.
  const isClosed = asAnswer<SharingInfo>(sharing).no_access === true;
  const path = pathOf(entry);
  return createItem({
    externalId: id,
    parentExternalId: parent,
    rootExternalId: root,
    name,
    itemType: isFile ? 'FILE' : 'FOLDER',
    externalUrl: addressOf(entry),
    fileFormat: isFile ? listedFormat(entry, name) : null,
    isSelectable: isFile ? exportOf(entry) !== 'none' : !isClosed,
    isExpandable: !isFile && !isClosed,
    // An unreadable file or folder becomes a file whose error gives the reason.
    hasContent: isFile || isClosed,
    version: isFile ? versionOf(entry, name) : null,
    ...(path === null ? {} : { path }),
  });
}

const BLOCK_BYTES = 4 * 1024 * 1024;
/** Dropbox's content hash: a hash of the blocks' hashes. https://www.dropbox.com/developers/reference/content-hash */
export function contentHash(bytes: Uint8Array): string {
  const whole = createHash('sha256');
  for (let from = 0; from < bytes.length; from += BLOCK_BYTES)
    whole.update(
      createHash('sha256')
        .update(bytes.subarray(from, from + BLOCK_BYTES))
        .digest(),
    );
  return whole.digest('hex');
}

/** Returns the content of a file. @param exportName name of the exported file; null: the file itself */
export function contentOf(file: Entry, bytes: Uint8Array, exportName: string | null): ItemContent {
  const name = asName(file.name);
  const format = formatOfName(exportName ?? name ?? '');
  const type = format === null ? 'application/octet-stream' : mimeTypeOf(format);
  const sharing = asAnswer<SharingInfo>(file.sharing_info);
  return {
    bytes,
    contentType: type,
    format: null,
    mimeType: type,
    name,
    url: addressOf(file) ?? '',
    fileMetadata: {
      type: 'FILE',
      is_folder: false,
      ...omitNull({
        path: asText(file.path_display),
        rev: asText(file.rev),
        content_hash: asText(file.content_hash),
        modified_at: asTimestamp(file.server_modified),
        shared_folder_id: asText(sharing.parent_shared_folder_id),
        exported_as: exportName === null ? null : format,
      }),
    },
  };
}

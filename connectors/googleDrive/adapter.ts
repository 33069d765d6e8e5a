import type { FileFormat } from '../../contract/fileFormats.js';
import { formatOfName } from '../../contract/fileFormats.js';
import type { SourceItem } from '../connector.js';

/** What we read of a file. */
export interface FileJson {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly mimeType?: unknown;
  readonly parents?: unknown;
  readonly webViewLink?: unknown;
  readonly createdTime?: unknown;
  readonly md5Checksum?: unknown;
  readonly version?: unknown;
  readonly trashed?: unknown;
}
/** The fields asked for: those of FileJson. */
export const FILE_FIELDS = 'id,name,mimeType,parents,webViewLink,createdTime,md5Checksum,version,trashed';

const FOLDER = 'application/vnd.google-apps.folder';
/** Ids stand in queries and paths. */
const ID = /^[\w-]{1,200}$/;
export const isFileId = (id: string): boolean => ID.test(id);

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** A file as an item; null for an answer that names none. @param root what it lies in at last; null for that itself */
export function itemOfFile(file: FileJson, parent: string | null, root: string | null): SourceItem | null {
  const { id, mimeType } = file;
  if (typeof id !== 'string' || !isFileId(id)) return null;
  const name = textOf(file.name) ?? id;
  const isFolder = mimeType === FOLDER;
  const fileFormat: FileFormat | null = isFolder ? null : formatOfName(name);
  return {
    externalId: id,
    parentExternalId: parent,
    rootExternalId: root,
    name,
    itemType: isFolder ? 'FOLDER' : 'FILE',
    externalUrl: textOf(file.webViewLink),
    fileFormat,
    isSelectable: isFolder || fileFormat !== null,
    isExpandable: isFolder,
    hasContent: fileFormat !== null,
    createdAt: textOf(file.createdTime),
    version: textOf(file.md5Checksum) ?? textOf(file.version),
  };
}

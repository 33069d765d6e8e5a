import {
  type FileFormat,
  formatOfName,
  formatOfType,
  mimeTypeOf,
  type ServiceFormat,
} from '../../../contract/files/fileFormats.js';
import type { CallOptions } from '../../accountClient.js';
import type { ItemContent } from '../../connector.js';
import type { SourceItem } from '../../sourceItem.js';
import { type Answer, asAnswer, asLink, asTimestamp, asName, asText } from '../../json.js';
import { createItem, createContainer } from '../../items.js';
import type { DriveFile, DriveShortcut } from '../vendorTypes.js';

/** A file of Drive's API; every field is unverified. */
export type FileJson = Answer<DriveFile>;

/** The file fields to request. */
export const FILE_FIELDS =
  'id,name,mimeType,parents,driveId,md5Checksum,version,modifiedTime,createdTime,webViewLink,trashed,shortcutDetails';

const FOLDER = 'application/vnd.google-apps.folder';
const SHORTCUT = 'application/vnd.google-apps.shortcut';
const NATIVE = 'application/vnd.google-apps.';

/** A type of document in Google's own format, with its export format. */
export interface NativeKind {
  readonly exportAs: string;
  /** The format in the file's record; null: that of the export. */
  readonly format: ServiceFormat | null;
  readonly listedAs: FileFormat;
  /** The other export formats that we can read, by name. */
  readonly otherFormats: readonly FileFormat[];
}
const NATIVE_KINDS: Readonly<Record<string, NativeKind>> = {
  // Markdown keeps headings, lists and tables. XLSX contains all sheets; CSV contains the first one only.
  document: {
    exportAs: 'text/markdown',
    format: 'GOOGLE_DOCS',
    listedAs: 'MD',
    otherFormats: ['TXT', 'DOCX', 'RTF', 'PDF'],
  },
  spreadsheet: {
    exportAs: mimeTypeOf('XLSX'),
    format: 'GOOGLE_SHEETS',
    listedAs: 'XLSX',
    otherFormats: ['CSV', 'TSV', 'PDF'],
  },
  presentation: {
    exportAs: mimeTypeOf('PPTX'),
    format: 'GOOGLE_SLIDES',
    listedAs: 'PPTX',
    otherFormats: ['TXT', 'PDF'],
  },
  drawing: { exportAs: 'application/pdf', format: null, listedAs: 'PDF', otherFormats: [] },
  script: { exportAs: 'application/vnd.google-apps.script+json', format: null, listedAs: 'JSON', otherFormats: [] },
};

/**
 * Id of the root item of all files and folders that are neither in the account's own root folder nor in a shared drive
 * of which it is a member. The dots rule out a collision with file ids.
 */
export const SHARED_WITH_ME = 'shared.with.me';

/** Ids become part of queries: other characters would change the query. */
const ID = /^[\w-]{1,200}$/;
export const isFileId = (id: unknown): id is string => typeof id === 'string' && ID.test(id);

const mimeTypeIn = (file: FileJson): string => asText(file.mimeType) ?? '';
export const isFolder = (file: FileJson): boolean => mimeTypeIn(file) === FOLDER;
export const isTrashed = (file: FileJson): boolean => file.trashed === true;

/** The target of a shortcut. */
interface Target {
  readonly id: string;
  readonly isFolder: boolean;
  /** Value of the resource keys header for the target; null: it needs no key. */
  readonly keys: string | null;
}

/** Returns the target of a shortcut; null for other files, or without a target. */
export function targetOf(file: FileJson): Target | null {
  if (mimeTypeIn(file) !== SHORTCUT) return null;
  const { targetId, targetMimeType, targetResourceKey } = asAnswer<DriveShortcut>(file.shortcutDetails);
  return isFileId(targetId)
    ? { id: targetId, isFolder: targetMimeType === FOLDER, keys: keysOf(targetId, targetResourceKey) }
    : null;
}

/** Header of the keys that some files shared by link need, for users who have not opened them before. */
const KEYS_HEADER = 'x-goog-drive-resource-keys';
/**
 * Returns the value of the resource keys header for a file; null if the file needs no key.
 * https://developers.google.com/workspace/drive/api/guides/resource-keys
 */
const keysOf = (id: string, key: unknown): string | null =>
  typeof key === 'string' && ID.test(key) ? `${id}/${key}` : null;
/** Returns the options of a call that needs resource keys. @param keys null: none */
export const withKeys = (keys: string | null): CallOptions =>
  keys === null ? {} : { headers: { [KEYS_HEADER]: keys } };

/** Returns the kind of a Google document; null for files with bytes; 'none' for kinds that can't be exported. */
export function nativeKindOf(mimeType: string): NativeKind | 'none' | null {
  if (!mimeType.startsWith(NATIVE)) return null;
  const kind = mimeType.slice(NATIVE.length);
  return Object.hasOwn(NATIVE_KINDS, kind) ? (NATIVE_KINDS[kind] ?? 'none') : 'none';
}

/** Returns the media type to export a document as: the requested one if its kind supports that, else the default. */
export function exportTypeOf({ exportAs, otherFormats }: NativeKind, saveAs: string | null): string {
  const requested = otherFormats.find((format) => format === saveAs?.trim().toUpperCase());
  return requested === undefined ? exportAs : mimeTypeOf(requested);
}

function listedFormat(mimeType: string, name: string): FileFormat | null {
  const native = nativeKindOf(mimeType);
  if (native === 'none') return null;
  return native?.listedAs ?? formatOfType(mimeType) ?? formatOfName(name);
}

/**
 * Returns a value that changes with the content: a checksum for files with bytes, else Drive's version number. It
 * includes the name, because the extension may decide the parser.
 */
function versionOf(file: FileJson): string | null {
  // The target of a shortcut may change without the shortcut.
  if (mimeTypeIn(file) === SHORTCUT) return null;
  const content = asText(file.md5Checksum) ?? asText(file.version) ?? asText(file.modifiedTime);
  return content === null ? null : `${content} ${asName(file.name) ?? ''}`;
}

const POINTS_TO_FOLDER = 'It is a shortcut to another folder. Select the shortcut itself, or that folder.';

/** Converts a file, folder or shortcut; null for an invalid answer. @param root its root item */
export function itemOfFile(file: FileJson, root: string): SourceItem | null {
  const { id, parents } = file;
  if (!isFileId(id)) return null;
  const mimeType = mimeTypeIn(file);
  const target = targetOf(file);
  const name = asName(file.name) ?? id;
  const targetType = target ? (asText(asAnswer<DriveShortcut>(file.shortcutDetails).targetMimeType) ?? '') : mimeType;
  const isFolderOrLinkToOne = isFolder(file) || target?.isFolder === true;
  const [parent] = Array.isArray(parents) ? (parents as unknown[]) : [];
  return createItem({
    externalId: id,
    parentExternalId: isFileId(parent) ? parent : SHARED_WITH_ME,
    rootExternalId: root,
    name,
    itemType: isFolderOrLinkToOne ? 'FOLDER' : 'FILE',
    externalUrl: asLink(file.webViewLink),
    fileFormat: isFolderOrLinkToOne ? null : listedFormat(targetType, name),
    isSelectable: isFolderOrLinkToOne || nativeKindOf(targetType) !== 'none',
    // A shortcut to a folder is not followed in a listing: shortcuts could form a cycle.
    isExpandable: isFolder(file),
    // A file without an export format becomes a file whose error gives the reason.
    hasContent: !isFolderOrLinkToOne,
    createdAt: asTimestamp(file.createdTime),
    version: versionOf(file),
    ...(target?.isFolder === true ? { skipReason: POINTS_TO_FOLDER } : {}),
  });
}

/** Converts a container that is not a file: a shared drive, or the files shared with the user. */
export const itemOfContainer = (
  externalId: string,
  name: string,
  url: string | null,
  createdAt: string | null,
): SourceItem =>
  createContainer({
    externalId,
    name,
    itemType: 'FOLDER',
    externalUrl: url,
    createdAt,
  });

/** Returns the content of a file. @param file its metadata @param shortcut the shortcut that points to it */
export function contentOf(
  file: FileJson,
  {
    bytes,
    contentType,
    native,
    shortcut,
  }: {
    readonly bytes: Uint8Array;
    readonly contentType: string;
    readonly native: NativeKind | null;
    readonly shortcut: FileJson | null;
  },
): ItemContent {
  const id = asText(file.id) ?? '';
  const name = asName((shortcut ?? file).name);
  const { driveId } = file;
  const modifiedAt = asTimestamp(file.modifiedTime);
  const mimeType = contentType.split(';')[0]?.trim() || 'application/octet-stream';
  // Files that were uploaded without a type have a generic one; then the name is more specific.
  const formatByName = formatOfType(mimeType) === null && native === null ? formatOfName(name ?? '') : null;
  const type = formatByName === null ? contentType : mimeTypeOf(formatByName);
  return {
    bytes,
    contentType: type,
    format: native?.format ?? null,
    mimeType: formatByName === null ? mimeType : type,
    name,
    url: asLink(file.webViewLink) ?? id,
    fileMetadata: {
      type: 'FILE',
      is_folder: false,
      is_shortcut: shortcut !== null,
      ...(shortcut === null ? {} : { shortcut_target_id: id }),
      ...(isFileId(driveId) ? { drive_id: driveId } : {}),
      ...(modifiedAt === null ? {} : { modified_at: modifiedAt }),
      google_mime_type: asText(file.mimeType),
    },
  };
}

import {
  type FileFormat,
  formatOfName,
  formatOfType,
  mimeTypeOf,
  type ServiceFormat,
} from '../../../contract/files/fileFormats.js';
import type { ItemContent, SourceItem } from '../../connector.js';
import { asLink, asMoment, asName, asObject, asText } from '../../json.js';
import { createItem, createContainer } from '../../items.js';

/** A file as Drive tells it: nothing in it is sure. */
export type FileJson = Readonly<Record<string, unknown>>;

/** The fields that are asked for of a file. */
export const FILE_FIELDS =
  'id,name,mimeType,parents,driveId,md5Checksum,version,modifiedTime,createdTime,webViewLink,trashed,shortcutDetails';

const FOLDER = 'application/vnd.google-apps.folder';
const SHORTCUT = 'application/vnd.google-apps.shortcut';
const NATIVE = 'application/vnd.google-apps.';

/** A kind of document that Google keeps in a form of its own, and what we have it exported as. */
export interface NativeKind {
  readonly exportAs: string;
  /** As records call it; null: as what it was exported as. */
  readonly format: ServiceFormat | null;
  readonly listedAs: FileFormat;
  /** The other forms that Google exports it in and that are read here, by their names. */
  readonly others: readonly FileFormat[];
}
const NATIVE_KINDS: Readonly<Record<string, NativeKind>> = {
  // Markdown keeps headings, lists and tables; XLSX has all sheets, where CSV has the first one.
  document: { exportAs: 'text/markdown', format: 'GOOGLE_DOCS', listedAs: 'MD', others: ['TXT', 'DOCX', 'RTF', 'PDF'] },
  spreadsheet: {
    exportAs: mimeTypeOf('XLSX'),
    format: 'GOOGLE_SHEETS',
    listedAs: 'XLSX',
    others: ['CSV', 'TSV', 'PDF'],
  },
  presentation: {
    exportAs: mimeTypeOf('PPTX'),
    format: 'GOOGLE_SLIDES',
    listedAs: 'PPTX',
    others: ['TXT', 'PDF'],
  },
  drawing: { exportAs: 'application/pdf', format: null, listedAs: 'PDF', others: [] },
  script: { exportAs: 'application/vnd.google-apps.script+json', format: null, listedAs: 'JSON', others: [] },
};

/** What is not in a folder that the account sees lies here. No file has such an id: it has a dot. */
export const SHARED_WITH_ME = 'shared.with.me';

/** Ids become part of queries: other characters would change the query. */
const ID = /^[\w-]{1,200}$/;
export const isFileId = (id: unknown): id is string => typeof id === 'string' && ID.test(id);

const mimeTypeIn = (file: FileJson): string => asText(file['mimeType']) ?? '';
export const isFolder = (file: FileJson): boolean => mimeTypeIn(file) === FOLDER;
export const isTrashed = (file: FileJson): boolean => file['trashed'] === true;

/** Returns the target of a shortcut; null for other files, or without a target. */
export function targetOf(file: FileJson): { id: string; isFolder: boolean } | null {
  if (mimeTypeIn(file) !== SHORTCUT) return null;
  const { targetId, targetMimeType } = asObject(file['shortcutDetails']);
  return isFileId(targetId) ? { id: targetId, isFolder: targetMimeType === FOLDER } : null;
}
/** Returns the kind of a Google document; null for files with bytes; 'none' for kinds that can't be exported. */
export function nativeKindOf(mimeType: string): NativeKind | 'none' | null {
  if (!mimeType.startsWith(NATIVE)) return null;
  const kind = mimeType.slice(NATIVE.length);
  return Object.hasOwn(NATIVE_KINDS, kind) ? (NATIVE_KINDS[kind] ?? 'none') : 'none';
}

/** As what a document is exported: as was wished for, where its kind can be, else as is best read. */
export function exportTypeOf({ exportAs, others }: NativeKind, saveAs: string | null): string {
  const wished = others.find((format) => format === saveAs?.trim().toUpperCase());
  return wished === undefined ? exportAs : mimeTypeOf(wished);
}

function listedFormat(mimeType: string, name: string): FileFormat | null {
  const native = nativeKindOf(mimeType);
  if (native === 'none') return null;
  return native?.listedAs ?? formatOfType(mimeType) ?? formatOfName(name);
}

/**
 * What tells one content from another: a checksum where there are bytes, else Drive's own count of changes. A new name
 * is a new version, for it may say how the bytes are read.
 */
function versionOf(file: FileJson): string | null {
  // What a shortcut leads to changes without it.
  if (mimeTypeIn(file) === SHORTCUT) return null;
  const content = asText(file['md5Checksum']) ?? asText(file['version']) ?? asText(file['modifiedTime']);
  return content === null ? null : `${content} ${asName(file['name']) ?? ''}`;
}

const ELSEWHERE = 'It is a shortcut to a folder that lies elsewhere. Select the shortcut itself, or that folder.';

/** Converts a file, folder or shortcut; null for an invalid answer. @param root its root item */
export function itemOfFile(file: FileJson, root: string): SourceItem | null {
  const { id, parents } = file;
  if (!isFileId(id)) return null;
  const mimeType = mimeTypeIn(file);
  const target = targetOf(file);
  const name = asName(file['name']) ?? id;
  const pointsTo = target ? (asText(asObject(file['shortcutDetails'])['targetMimeType']) ?? '') : mimeType;
  const isInside = isFolder(file) || target?.isFolder === true;
  const [parent] = Array.isArray(parents) ? (parents as unknown[]) : [];
  return createItem({
    externalId: id,
    parentExternalId: isFileId(parent) ? parent : SHARED_WITH_ME,
    rootExternalId: root,
    name,
    itemType: isInside ? 'FOLDER' : 'FILE',
    externalUrl: asLink(file['webViewLink']),
    fileFormat: isInside ? null : listedFormat(pointsTo, name),
    isSelectable: isInside || nativeKindOf(pointsTo) !== 'none',
    // A shortcut to a folder shows what lies elsewhere: followed in a listing, it could lead in circles.
    isExpandable: isFolder(file),
    // A file that can't be exported becomes a file with that message.
    hasContent: !isInside,
    createdAt: asMoment(file['createdTime']),
    version: versionOf(file),
    ...(target?.isFolder === true ? { skipReason: ELSEWHERE } : {}),
  });
}

/** Converts a container that is not a file: a shared drive, or the files shared with the user. */
export const itemOfPlace = (
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

/** The bytes of a file. @param file what they are of @param through the shortcut that led to it */
export function contentOf(
  file: FileJson,
  {
    bytes,
    contentType,
    native,
    through,
  }: {
    readonly bytes: Uint8Array;
    readonly contentType: string;
    readonly native: NativeKind | null;
    readonly through: FileJson | null;
  },
): ItemContent {
  const id = asText(file['id']) ?? '';
  const name = asName((through ?? file)['name']);
  const { driveId } = file;
  const modifiedAt = asMoment(file['modifiedTime']);
  const mimeType = contentType.split(';')[0]?.trim() || 'application/octet-stream';
  // A file that was uploaded without a type has a generic one: then its name is more specific.
  const named = formatOfType(mimeType) === null && native === null ? formatOfName(name ?? '') : null;
  const type = named === null ? contentType : mimeTypeOf(named);
  return {
    bytes,
    contentType: type,
    format: native?.format ?? null,
    mimeType: named === null ? mimeType : type,
    name,
    url: asLink(file['webViewLink']) ?? id,
    facts: {
      type: 'FILE',
      is_folder: false,
      is_shortcut: through !== null,
      ...(through === null ? {} : { shortcut_target_id: id }),
      ...(isFileId(driveId) ? { drive_id: driveId } : {}),
      ...(modifiedAt === null ? {} : { modified_at: modifiedAt }),
      google_mime_type: asText(file['mimeType']),
    },
  };
}

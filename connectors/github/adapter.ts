import type { components } from '@octokit/openapi-types';

import { Fault } from '../../contract/failures.js';
import {
  FILE_FORMATS,
  type FileFormat,
  extensionOf,
  formatOfName,
  mimeTypeOf,
} from '../../contract/files/fileFormats.js';
import type { ItemContent } from '../connector.js';
import type { SourceItem } from '../sourceItem.js';
import { createItem, createContainer } from '../items.js';
import { type Answer, asText } from '../json.js';
import { incompleteAnswer } from '../faults.js';

type Schemas = components['schemas'];

/** The fields of a repository that are read. */
export interface Repository {
  readonly id: number;
  /** `owner/name`. */
  readonly fullName: string;
  readonly url: string;
  readonly branch: string;
  /** ISO 8601. */
  readonly createdAt: string | null;
}

/** Parses a repository. @throws Fault server_error for an answer without its name */
export function repositoryFrom(json: Answer<Schemas['full-repository']>): Repository {
  const fullName = asText(json.full_name);
  if (fullName === null) throw incompleteAnswer('GitHub', 'the repository');
  return {
    id: Number(json.id),
    fullName,
    url: asText(json.html_url) ?? `https://github.com/${fullName}`,
    branch: asText(json.default_branch) ?? 'main',
    createdAt: asText(json.created_at),
  };
}

/** An entry of a git tree. */
export interface EntryJson {
  /** Relative to the requested tree. */
  readonly path: string;
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  readonly size?: number;
}

/** The object at a path, in the `object` media type. */
export interface ContentJson {
  readonly type?: string;
  readonly sha?: string;
  readonly size?: number;
  readonly html_url?: string;
  readonly encoding?: string;
  readonly content?: string;
}

/** The repository, branch and path of a tree. */
export interface TreeLocation {
  /** `owner/name`. */
  readonly repository: string;
  readonly url: string;
  readonly branch: string;
  /** Path of the tree within the repository; '' for its root. */
  readonly path: string;
}

/** Maximum size of a file of unknown format that is read as text: longer ones are rarely written by hand. */
const MAX_PLAIN_BYTES = 1_000_000;
/**
 * Maximum size of a file of a known format. GitHub sends it as base64 in JSON, which must fit into the maximum size of
 * an answer (MAX_ANSWER_BYTES in transport.ts).
 */
const MAX_FILE_BYTES = 35_000_000;

/** Extensions of binary files, in addition to the formats of fileFormats.ts. */
const NO_TEXT = new Set(
  [
    'gif webp ico bmp tif tiff psd heic avif ttf otf woff woff2 eot',
    'zip gz tgz bz2 xz zst 7z rar tar jar war whl gem nupkg deb rpm apk dmg iso',
    'exe dll so dylib a o obj lib bin wasm class pyc pyd node pdb pack idx',
    'db sqlite sqlite3 parquet avro npy npz pkl pt pth onnx safetensors gguf h5 doc xls ppt',
  ].flatMap((line) => line.split(' ')),
);

/** Git's file mode of a symbolic link. */
const LINK_MODE = '120000';
/** First line of the pointer file that replaces a file in Git LFS. */
const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

/** Splits an item id into `owner/name` and the path within; the path is '' for the repository itself. */
export function partsOf(externalId: string): { owner: string; name: string; path: string } {
  const [owner = '', name = '', ...path] = externalId.split('/');
  return { owner, name, path: path.join('/') };
}

/** Converts a repository. */
export const itemOfRepository = ({ fullName, url, createdAt }: Repository): SourceItem =>
  createContainer({
    externalId: fullName,
    name: fullName,
    itemType: 'REPOSITORY',
    externalUrl: url,
    createdAt,
  });

const TOO_LONG = 'It is too large to be read from a repository. Upload it instead.';
const NO_DOCUMENT = 'In repositories, only documents and texts are read. Upload it instead.';

/** Returns the format of a file, or a skip reason. Short files of unknown format are read as text. */
function readAs({
  path,
  mode,
  type,
  size = 0,
}: EntryJson): { readonly format: FileFormat } | { readonly skipReason: string } {
  if (type !== 'blob') return { skipReason: 'It is a submodule. Sync its own repository.' };
  if (mode === LINK_MODE) return { skipReason: 'It is a link. Sync its target.' };
  if (size === 0) return { skipReason: 'It is empty.' };
  const format = formatOfName(path);
  if (format !== null) {
    if (FILE_FORMATS[format].kind !== 'text') return { skipReason: NO_DOCUMENT };
    return size <= MAX_FILE_BYTES ? { format } : { skipReason: TOO_LONG };
  }
  if (NO_TEXT.has(extensionOf(path))) return { skipReason: NO_DOCUMENT };
  return size <= MAX_PLAIN_BYTES ? { format: 'TXT' } : { skipReason: TOO_LONG };
}

const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** Converts an entry of a tree. A submodule is an item without contents, because it is another repository. */
export function itemOfEntry({ repository, url, branch, path: treePath }: TreeLocation, entry: EntryJson): SourceItem {
  const path = treePath === '' ? entry.path : `${treePath}/${entry.path}`;
  const slash = path.lastIndexOf('/');
  const isFile = entry.type === 'blob';
  const isDirectory = entry.type === 'tree';
  const read = isDirectory ? null : readAs(entry);
  const format = read && 'format' in read ? read.format : null;
  return createItem({
    externalId: `${repository}/${path}`,
    parentExternalId: slash < 0 ? repository : `${repository}/${path.slice(0, slash)}`,
    rootExternalId: repository,
    name: path.slice(slash + 1),
    itemType: isFile ? 'FILE' : 'DIRECTORY',
    externalUrl: `${url}/${isDirectory ? 'tree' : 'blob'}/${encodePath(branch)}/${encodePath(path)}`,
    fileFormat: format,
    isSelectable: isDirectory || format !== null,
    isExpandable: isDirectory,
    hasContent: format !== null,
    version: isFile && entry.sha !== '' ? entry.sha : null,
    ...(read && 'skipReason' in read ? read : {}),
  });
}

/** Maps an object's type in answers of /contents to the type of an entry in a git tree. */
const ENTRY_TYPES: Readonly<Record<string, string>> = { file: 'blob', symlink: 'blob', dir: 'tree' };

/** Converts the object at a path to an entry of the root tree. */
export const entryOf = (path: string, { type = '', sha = '', size }: ContentJson): EntryJson => ({
  path,
  mode: type === 'symlink' ? LINK_MODE : '',
  type: ENTRY_TYPES[type] ?? 'commit',
  sha,
  ...(size === undefined ? {} : { size }),
});

/** Returns the content of a file. @throws Fault unsupported_type for a Git LFS pointer */
export function contentOf(externalId: string, bytes: Buffer, { sha, html_url: url }: ContentJson): ItemContent {
  if (bytes.subarray(0, LFS_POINTER.length).toString('latin1') === LFS_POINTER)
    throw new Fault('unsupported_type', 'GitHub keeps this file in Git LFS, which is not read. Upload it instead.');
  const { owner, name, path } = partsOf(externalId);
  const format = formatOfName(path);
  const mimeType = format === null ? 'text/plain' : mimeTypeOf(format);
  return {
    bytes,
    contentType: mimeType,
    format: 'GITHUB',
    mimeType,
    name: path.slice(path.lastIndexOf('/') + 1),
    url: url ?? externalId,
    fileMetadata: { type: 'FILE', repository: `${owner}/${name}`, path, ...(sha === undefined ? {} : { sha }) },
  };
}

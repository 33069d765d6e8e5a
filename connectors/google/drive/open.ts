import { Fault } from '../../../contract/failures.js';
import type { ItemContent, OpenOptions } from '../../connector.js';
import type { SourceAnswer, SourceClient } from '../../accountClient.js';
import { asAnswer, asObject, asText } from '../../json.js';
import type { DriveFile } from '../vendorTypes.js';
import {
  contentOf,
  exportTypeOf,
  FILE_FIELDS,
  type FileJson,
  isFileId,
  isFolder,
  isTrashed,
  nativeKindOf,
  targetOf,
  withKeys,
} from './adapter.js';
import { noSuchItem, incompleteAnswer } from '../../faults.js';

/** Returns the metadata of a file. Throws a Fault not_found also for files in the trash. */
export async function fileAt(
  client: SourceClient,
  id: string,
  { more = '', keys = null }: { readonly more?: string; readonly keys?: string | null } = {},
): Promise<FileJson> {
  if (!isFileId(id)) throw noSuchItem('Google Drive');
  const fields = `${FILE_FIELDS}${more}`;
  const file = asAnswer<DriveFile>(
    await client.get(['files', id], { fields, supportsAllDrives: 'true' }, withKeys(keys)),
  );
  if (!isFileId(file.id)) throw incompleteAnswer('Google Drive', 'the file');
  if (isTrashed(file)) throw noSuchItem('Google Drive');
  return file;
}

/**
 * Returns the path and query of a link relative to our base URL; null if it is on another host, which must not
 * receive our credentials.
 */
function partsBelow(base: string, link: string): { path: string[]; query: Record<string, string> } | null {
  if (!URL.canParse(link)) return null;
  const url = new URL(link);
  const root = new URL(`${base}/`);
  if (url.origin !== root.origin || !url.pathname.startsWith(root.pathname)) return null;
  try {
    const path = url.pathname.slice(root.pathname.length).split('/').map(decodeURIComponent);
    return { path, query: Object.fromEntries(url.searchParams) };
  } catch {
    return null;
  }
}

/** Exports a document. If it exceeds the API's size limit, it is downloaded through the export link in its metadata. */
async function exported(
  client: SourceClient,
  file: FileJson,
  { mimeType, keys }: { readonly mimeType: string; readonly keys: string | null },
): Promise<SourceAnswer> {
  try {
    return await client.content(['files', asText(file.id) ?? '', 'export'], { mimeType }, withKeys(keys));
  } catch (error) {
    const link = asText(asObject(file.exportLinks)[mimeType]);
    const location = link === null ? null : partsBelow(client.urls['documents'] ?? '', link);
    if (!(error instanceof Fault) || error.kind !== 'unsupported_type' || location === null) throw error;
    // The web export is not part of the API, but accepts the same token.
    return client.content(location.path, location.query, { at: 'documents' });
  }
}

/** Returns the content of a file, of a shortcut's target, or of an exported document. */
export async function openFile(
  client: SourceClient,
  externalId: string,
  { saveAs }: OpenOptions,
): Promise<ItemContent> {
  const more = ',exportLinks';
  const item = await fileAt(client, externalId, { more });
  const target = targetOf(item);
  const keys = target?.keys ?? null;
  const file = target ? await fileAt(client, target.id, { more, keys }) : item;
  if (isFolder(file))
    throw new Fault('unsupported_type', 'A Google Drive folder has no text of its own: sync the files in it.');
  const native = nativeKindOf(asText(file.mimeType) ?? '');
  if (native === 'none')
    throw new Fault(
      'unsupported_type',
      'Google cannot export this type of document in a readable format. Copy its text into a Google Doc and sync that.',
    );
  const exportAs = native ? exportTypeOf(native, saveAs) : null;
  const answer = exportAs
    ? await exported(client, file, { mimeType: exportAs, keys })
    : await client.content(
        ['files', asText(file.id) ?? ''],
        { alt: 'media', supportsAllDrives: 'true' },
        withKeys(keys),
      );
  const declared = exportAs ?? asText(file.mimeType) ?? answer.headers['content-type'] ?? '';
  return contentOf(file, { bytes: answer.bytes, contentType: declared, native, shortcut: target ? item : null });
}

import { formatOfName, formatOfType, mimeTypeOf } from '../../contract/fileFormats.js';
import type { ItemContent, SourceItem } from '../connector.js';
import { idOf } from '../../contract/s3Ids.js';

/** What we read of an object in a listing. */
export interface ListedObject {
  readonly key: string;
  readonly lastModified: Date | null;
  readonly etag: string | null;
}

const nameOf = (key: string): string => key.replace(/\/$/, '').split('/').at(-1) || key;
const addressOf = (bucket: string, key: string): string => `s3://${bucket}/${key}`;

/** The folder that a key lies in, with its slash; '' for the bucket. */
const folderOf = (key: string): string => key.slice(0, key.replace(/\/$/, '').lastIndexOf('/') + 1);

export const itemOfBucket = (bucket: string, createdAt: Date | null): SourceItem => ({
  externalId: bucket,
  parentExternalId: null,
  rootExternalId: null,
  name: bucket,
  itemType: 'FOLDER',
  externalUrl: addressOf(bucket, ''),
  fileFormat: null,
  isSelectable: true,
  isExpandable: true,
  hasContent: false,
  createdAt: createdAt?.toISOString() ?? null,
  version: null,
});

function itemOfKey(bucket: string, { key, lastModified, etag }: ListedObject): SourceItem {
  const isFolder = key.endsWith('/');
  return {
    externalId: idOf(bucket, key),
    parentExternalId: idOf(bucket, folderOf(key)),
    rootExternalId: bucket,
    name: nameOf(key),
    itemType: isFolder ? 'FOLDER' : 'FILE',
    externalUrl: addressOf(bucket, key),
    fileFormat: isFolder ? null : formatOfName(key),
    isSelectable: true,
    isExpandable: isFolder,
    hasContent: !isFolder,
    createdAt: isFolder ? null : (lastModified?.toISOString() ?? null),
    version: etag,
  };
}

const ofFolder = (key: string): ListedObject => ({ key, lastModified: null, etag: null });

/**
 * Objects in the order of their keys, each after the folders that it lies in.
 * @param after the key that the page before ended with; its folders are known
 * @param below folders that are not longer are left out: they lie above what is listed
 */
export function itemsOfObjects(
  bucket: string,
  objects: readonly ListedObject[],
  { after, below }: { readonly after: string; readonly below: string },
): SourceItem[] {
  const items: SourceItem[] = [];
  let before = after;
  for (const object of objects) {
    const { key } = object;
    // What a folder holds stands together, so one that the key before has too was told.
    for (let end = key.indexOf('/'); end >= 0; end = key.indexOf('/', end + 1)) {
      const folder = key.slice(0, end + 1);
      if (folder.length > below.length && !before.startsWith(folder)) items.push(itemOfKey(bucket, ofFolder(folder)));
    }
    // An object that is called like a folder only keeps its place.
    if (!key.endsWith('/')) items.push(itemOfKey(bucket, object));
    before = key;
  }
  return items;
}

/** The folder that was asked for, itself. */
export const itemOfFolder = (bucket: string, key: string): SourceItem => itemOfKey(bucket, ofFolder(key));

/** An object's bytes. What was put without a type is declared as nothing in particular: then its name says more. */
export function contentOf(
  bucket: string,
  key: string,
  { bytes, contentType, etag }: { bytes: Uint8Array; contentType: string | undefined; etag: string | undefined },
): ItemContent {
  const named = formatOfName(key);
  const declared = formatOfType(contentType ?? null) === null && named ? mimeTypeOf(named) : contentType;
  const type = declared ?? 'application/octet-stream';
  return {
    bytes,
    contentType: type,
    format: null,
    mimeType: type.split(';')[0]?.trim() ?? type,
    name: nameOf(key),
    url: addressOf(bucket, key),
    facts: { type: 'FILE', bucket, ...(etag === undefined ? {} : { etag }) },
  };
}

import type { Drive, DriveItem, File, Hashes, ItemReference, RemoteItem } from '@microsoft/microsoft-graph-types';

import { formatOfName } from '../../../contract/files/fileFormats.js';
import type { ItemContent } from '../../connector.js';
import type { SourceItem } from '../../sourceItem.js';
import { dateOf } from '../graph.js';
import { type Answer, asAnswer, asText } from '../../json.js';
import { createItem, createContainer, fileBytes } from '../../items.js';

/** The item fields to request. */
export const ITEM_FIELDS =
  'id,name,size,webUrl,createdDateTime,lastModifiedDateTime,cTag,eTag,file,folder,package,root,deleted,remoteItem,parentReference';

/** Valid ids of drives and items. */
const ID = /^[\w!.~-]{1,512}$/;
export const isId = (text: string): boolean => ID.test(text) && !/^\.+$/.test(text);

/** Builds an item id. It contains the drive, because item ids are unique within their drive only. */
export const itemId = (drive: string, item: string): string => `${drive}/${item}`;

/** Splits an item id; `item` is null for a drive. */
export function partsOf(externalId: string): { readonly drive: string; readonly item: string | null } {
  const slash = externalId.indexOf('/');
  if (slash < 0) return { drive: externalId, item: null };
  return { drive: externalId.slice(0, slash), item: externalId.slice(slash + 1) };
}

/** The place of a listing's items. */
export interface DriveListing {
  readonly drive: string;
  /** The id of the drive's root folder; null: unknown. The parent of an item directly in that folder is the drive. */
  readonly rootId: string | null;
  /** The root item of the listing. */
  readonly root: string;
  /** The folder whose children are listed; null: each item states its parent. */
  readonly parent: string | null;
}

/** Converts a drive; null without an id. */
export function itemOfDrive(drive: Answer<Drive>): SourceItem | null {
  const id = asText(drive.id);
  if (id === null || !isId(id)) return null;
  return createContainer({
    externalId: id,
    name: asText(drive.name) ?? id,
    itemType: 'FOLDER',
    externalUrl: asText(drive.webUrl),
    createdAt: dateOf(drive.createdDateTime),
  });
}

/** An item of another drive, which this drive shows as a link. */
export interface Remote {
  readonly drive: string;
  readonly item: string;
}

/** Returns the target of a link to another drive; null for other items. */
export function remoteOf(item: Answer<DriveItem>): Remote | null {
  const remote = asAnswer<RemoteItem>(item.remoteItem);
  const drive = asText(asAnswer<ItemReference>(remote.parentReference).driveId);
  const id = asText(remote.id);
  return drive !== null && id !== null && isId(drive) && isId(id) ? { drive, item: id } : null;
}

export const isFolder = (item: Answer<DriveItem>): boolean =>
  asAnswer<RemoteItem>(item.remoteItem).folder !== undefined || item.folder !== undefined;
export const isRoot = (item: Answer<DriveItem>): boolean => item.root !== undefined;
export const isDeleted = (item: Answer<DriveItem>): boolean => item.deleted !== undefined;

/**
 * Path of a drive's root folder. The names of folders follow the colon, and may end with `root` too.
 * https://learn.microsoft.com/graph/api/resources/itemreference#remarks
 */
const ROOT_PATH = /^\/drives?(?:\/[^/]+)?\/root:?$/;

function parentOf(item: Answer<DriveItem>, { drive, rootId, parent: listed }: DriveListing): string {
  if (listed !== null) return listed;
  const { id, path } = asAnswer<ItemReference>(item.parentReference);
  const parent = asText(id);
  if (parent === null || parent === rootId || ROOT_PATH.test(asText(path) ?? '') || !isId(parent)) return drive;
  return itemId(drive, parent);
}

const PACKAGE =
  'The Microsoft API cannot export notebooks and other packages. Export this item in its app, then upload the result.';

/**
 * Returns a value that changes with the content, and is the same in a listing and in the change feed. The feed of
 * OneDrive for Business and SharePoint omits cTag (https://learn.microsoft.com/graph/api/driveitem-delta#remarks), and
 * eTag changes with each edit of metadata. The listing and the feed both contain the hash. Some files have no hash; an
 * edit of their metadata may cause the service to read them again.
 */
function versionOf(item: Answer<DriveItem>): string | null {
  const hashes = asAnswer<Hashes>(asAnswer<File>(item.file).hashes);
  const hash = asText(hashes.quickXorHash) ?? asText(hashes.sha256Hash) ?? asText(hashes.sha1Hash);
  if (hash !== null) return hash;
  const changed = asText(item.lastModifiedDateTime);
  return changed === null ? asText(item.eTag) : `${changed} ${typeof item.size === 'number' ? item.size : ''}`;
}

/**
 * Converts an item of a drive; null without an id, for the root folder, a deleted item, and a link without a target. A
 * shared item has the id that it has in its own drive.
 */
export function itemOf(item: Answer<DriveItem>, place: DriveListing): SourceItem | null {
  const id = asText(item.id);
  if (id === null || !isId(id) || isRoot(item) || isDeleted(item)) return null;
  const remote = remoteOf(item);
  const link = asAnswer<RemoteItem>(item.remoteItem);
  if (remote === null && item.remoteItem !== undefined) return null;
  const folder = isFolder(item);
  const isFile = item.file !== undefined || link.file !== undefined;
  const name = asText(item.name) ?? asText(link.name) ?? id;
  return createItem({
    externalId: remote === null ? itemId(place.drive, id) : itemId(remote.drive, remote.item),
    parentExternalId: parentOf(item, place),
    rootExternalId: place.root,
    name,
    itemType: folder ? 'FOLDER' : 'FILE',
    externalUrl: asText(item.webUrl) ?? asText(link.webUrl),
    fileFormat: isFile ? formatOfName(name) : null,
    // A notebook is a package, which cannot be downloaded.
    isSelectable: folder || isFile,
    isExpandable: folder,
    hasContent: isFile,
    createdAt: dateOf(item.createdDateTime),
    // The fields of an item of another drive describe the link, not its target.
    version: folder || remote !== null ? null : versionOf(item),
    ...(folder || isFile ? {} : { skipReason: PACKAGE }),
  });
}

/** Returns a file's content. A generic media type is replaced by that of its name. */
export function contentOf(item: Answer<DriveItem>, externalId: string, bytes: Uint8Array): ItemContent {
  const { drive, item: id } = partsOf(externalId);
  const name = asText(item.name);
  const declared = asText(asAnswer<File>(item.file).mimeType);
  const etag = asText(item.cTag) ?? asText(item.eTag);
  return {
    ...fileBytes(bytes, declared, name),
    name,
    url: asText(item.webUrl) ?? externalId,
    fileMetadata: { type: 'FILE', is_folder: false, drive_id: drive, item_id: id, ...(etag === null ? {} : { etag }) },
  };
}

/** Converts the flat key lists of object stores to trees of folders. */
import { formatOfName } from '../contract/files/fileFormats.js';
import { idOf } from '../contract/objectIds.js';
import type { ItemContent } from './connector.js';
import type { SourceItem } from './sourceItem.js';
import { createItem, createContainer, fileBytes } from './items.js';

/** The fields of a listed object that are read. */
export interface ListedObject {
  readonly key: string;
  readonly createdAt: Date | null;
  readonly etag: string | null;
}

/** An object with its bytes. */
export interface ReadObject {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
  readonly etag: string | undefined;
}

/** Names and URLs of a store. */
export interface StoreNames {
  /** Returns the URL of a key for a user's browser; '' is the container itself. */
  addressOf(container: string, key: string): string;
  /** itemType of the root containers. */
  readonly containerType: string;
  /** Field of a file's metadata that contains its container. */
  readonly containerField: string;
}

export interface ObjectTree {
  itemOfContainer(container: string, createdAt: Date | null): SourceItem;
  /** Returns the item of a requested folder. */
  itemOfFolder(container: string, key: string): SourceItem;
  /**
   * Converts objects in key order, each preceded by its folders.
   * @param after the last key of the previous page, whose folders were already listed
   * @param below key of the listed folder; this folder and those that contain it are omitted
   */
  itemsOfObjects(
    container: string,
    objects: readonly ListedObject[],
    place: { readonly after: string; readonly below: string },
  ): SourceItem[];
  /**
   * Returns an object's content. Stores report a generic type for objects that were uploaded without one; then the
   * name decides the type.
   */
  contentOf(container: string, key: string, object: ReadObject): ItemContent;
}

const nameOf = (key: string): string => key.replace(/\/$/, '').split('/').at(-1) || key;
/** Returns the folder of a key, with its trailing slash; '' for the container. */
const folderOf = (key: string): string => key.slice(0, key.replace(/\/$/, '').lastIndexOf('/') + 1);
const ofFolder = (key: string): ListedObject => ({ key, createdAt: null, etag: null });

export function createObjectTree({ addressOf, containerType, containerField }: StoreNames): ObjectTree {
  const itemOfKey = (container: string, { key, createdAt, etag }: ListedObject): SourceItem => {
    const isFolder = key.endsWith('/');
    return createItem({
      externalId: idOf(container, key),
      parentExternalId: idOf(container, folderOf(key)),
      rootExternalId: container,
      name: nameOf(key),
      itemType: isFolder ? 'FOLDER' : 'FILE',
      externalUrl: addressOf(container, key),
      fileFormat: isFolder ? null : formatOfName(key),
      isExpandable: isFolder,
      hasContent: !isFolder,
      createdAt: isFolder ? null : (createdAt?.toISOString() ?? null),
      version: etag,
    });
  };

  return {
    itemOfContainer: (container, createdAt) =>
      createContainer({
        externalId: container,
        name: container,
        itemType: containerType,
        externalUrl: addressOf(container, ''),
        createdAt: createdAt?.toISOString() ?? null,
      }),
    itemOfFolder: (container, key) => itemOfKey(container, ofFolder(key)),
    itemsOfObjects(container, objects, { after, below }) {
      const items: SourceItem[] = [];
      let before = after;
      for (const object of objects) {
        const { key } = object;
        // Keys of a folder are adjacent, so a folder of the previous key was listed already.
        for (let end = key.indexOf('/'); end >= 0; end = key.indexOf('/', end + 1)) {
          const folder = key.slice(0, end + 1);
          if (folder.length > below.length && !before.startsWith(folder))
            items.push(itemOfKey(container, ofFolder(folder)));
        }
        // An object whose key ends with a slash is a placeholder of a folder.
        if (!key.endsWith('/')) items.push(itemOfKey(container, object));
        before = key;
      }
      return items;
    },
    contentOf(container, key, { bytes, contentType, etag }) {
      return {
        ...fileBytes(bytes, contentType, key),
        name: nameOf(key),
        url: addressOf(container, key),
        fileMetadata: { type: 'FILE', [containerField]: container, ...(etag === undefined ? {} : { etag }) },
      };
    },
  };
}

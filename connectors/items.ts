/** Builds items and their contents for connectors. */
import { formatOfName, formatOfType, mimeTypeOf } from '../contract/files/fileFormats.js';
import type { ItemContent } from './connector.js';
import type { SourceItem } from './sourceItem.js';

/** Author name in the text of a message whose source names no author. */
export const UNKNOWN_AUTHOR = 'Unknown author';

type ItemFields = Pick<SourceItem, 'externalId' | 'name' | 'itemType'> & Partial<SourceItem>;

/** Builds an item. By default it is a root item, selectable, without content and not expandable. */
export const createItem = (fields: ItemFields): SourceItem => ({
  parentExternalId: null,
  rootExternalId: null,
  externalUrl: null,
  fileFormat: null,
  isSelectable: true,
  isExpandable: false,
  hasContent: false,
  createdAt: null,
  version: null,
  ...fields,
});

/** Builds an item that only contains others. */
export const createContainer = (given: ItemFields): SourceItem => createItem({ isExpandable: true, ...given });

/**
 * Returns the bytes of a file with their type.
 * @param declared the type stated by the source; if no parser supports it, the file's name decides
 */
export function fileBytes(
  bytes: Uint8Array,
  declared: string | null | undefined,
  name: string | null,
): Pick<ItemContent, 'bytes' | 'contentType' | 'format' | 'mimeType'> {
  const formatByName = name === null ? null : formatOfName(name);
  const type =
    (formatOfType(declared || null) === null && formatByName ? mimeTypeOf(formatByName) : declared) ||
    'application/octet-stream';
  return { bytes, contentType: type, format: null, mimeType: type.split(';')[0]?.trim() ?? type };
}

/** Item types of ticket and table sources. Callers use them to select and find items. */
export const TYPES_AT_SOURCE = ['TICKET', 'ARTICLE', 'CONVERSATION', 'TABLE', 'INCIDENT', 'ATTACHMENT'] as const;
export type TypeAtSource = (typeof TYPES_AT_SOURCE)[number];

/** The type of an item; absent if its source has no types. */
export interface Typed {
  readonly typeAtSource?: TypeAtSource;
  /** For an attachment: the type of the item it is attached to. */
  readonly attachedTo?: TypeAtSource;
}

/** The reason in events for items that auto_synced_source_types excludes. */
export const EXCLUDED_BY_TYPE = 'auto_synced_source_types';

/** auto_synced_source_types and sync_attachments. */
export interface TypeFilter {
  /** Absent: all types. */
  readonly autoSyncedSourceTypes?: readonly string[];
  readonly syncAttachments?: boolean;
}

/**
 * Returns whether a found item becomes a file. An item without a type does. An item with a type does if no types are
 * named, or if its type is among them.
 * An attachment becomes a file with its item if attachments are requested, or if its own type is named.
 */
export function isChosenByType(
  { typeAtSource, attachedTo }: Typed,
  { autoSyncedSourceTypes: named, syncAttachments = false }: TypeFilter,
): boolean {
  const isNamed = (type: TypeAtSource | undefined): boolean => type !== undefined && (named ?? []).includes(type);
  const isIncluded = (type: TypeAtSource | undefined): boolean => type === undefined || !named || isNamed(type);
  return attachedTo === undefined
    ? isIncluded(typeAtSource)
    : isNamed(typeAtSource) || (syncAttachments && isIncluded(attachedTo));
}

/** An item that a listing found. */
interface Found extends Typed {
  readonly hasContent: boolean;
  readonly isAttachment?: boolean;
  readonly isSelectable: boolean;
}

/** Returns whether an item becomes a file. Explicitly selected items do, whatever their type. */
export function becomesFile(item: Found, isNamed: boolean, typeFilter: TypeFilter): boolean {
  const { hasContent, isAttachment, isSelectable } = item;
  const isWanted = hasContent || (isAttachment === true && typeFilter.syncAttachments === true && isSelectable);
  return isWanted && (isNamed || isChosenByType(item, typeFilter));
}

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
 * Returns whether the type filter selects an item. It selects items without a type, items of the named types, and all
 * items if autoSyncedSourceTypes is absent. It selects an attachment only if its own type is named, or if attachments
 * are requested and the type of the item it is attached to is selected.
 */
export function isChosenByType(
  { typeAtSource, attachedTo }: Typed,
  { autoSyncedSourceTypes: namedTypes, syncAttachments = false }: TypeFilter,
): boolean {
  const isNamed = (type: TypeAtSource | undefined): boolean => type !== undefined && (namedTypes ?? []).includes(type);
  const isIncluded = (type: TypeAtSource | undefined): boolean => type === undefined || !namedTypes || isNamed(type);
  return attachedTo === undefined
    ? isIncluded(typeAtSource)
    : isNamed(typeAtSource) || (syncAttachments && isIncluded(attachedTo));
}

/** An item that a listing found. */
interface ListedItem extends Typed {
  readonly hasContent: boolean;
  readonly isAttachment?: boolean;
  readonly isSelectable: boolean;
}

/** Returns whether an item becomes a file. @param isNamed whether a caller selected the item by id, despite its type */
export function becomesFile(item: ListedItem, isNamed: boolean, typeFilter: TypeFilter): boolean {
  const { hasContent, isAttachment, isSelectable } = item;
  const mayBecomeFile = hasContent || (isAttachment === true && typeFilter.syncAttachments === true && isSelectable);
  return mayBecomeFile && (isNamed || isChosenByType(item, typeFilter));
}

/** What sources of tickets and tables call the things they hold: by these a caller says what is to be synced, and finds it. */
export const TYPES_AT_SOURCE = ['TICKET', 'ARTICLE', 'CONVERSATION', 'TABLE', 'INCIDENT', 'ATTACHMENT'] as const;
export type TypeAtSource = (typeof TYPES_AT_SOURCE)[number];

/** What an item is, as far as its source has words for it. */
export interface Typed {
  readonly typeAtSource?: TypeAtSource;
  /** Of what is attached to something: that one's type. */
  readonly attachedTo?: TypeAtSource;
}

/** The reason that is told of what auto_synced_source_types leaves out. */
export const LEFT_OUT_BY_TYPE = 'auto_synced_source_types';

/** auto_synced_source_types and sync_attachments. */
export interface TypeWishes {
  /** Unset: any. */
  readonly autoSyncedSourceTypes?: readonly string[];
  readonly syncAttachments?: boolean;
}

/**
 * Whether what a walk has found becomes a file: what has no type does, what has one where none are named or its own is.
 * What is attached comes with what it is attached to, where attachments are asked for, or because its own type is named.
 */
export function isChosenByType(
  { typeAtSource, attachedTo }: Typed,
  { autoSyncedSourceTypes: named, syncAttachments = false }: TypeWishes,
): boolean {
  const isNamed = (type: TypeAtSource | undefined): boolean => type !== undefined && (named ?? []).includes(type);
  const isFree = (type: TypeAtSource | undefined): boolean => type === undefined || !named || isNamed(type);
  return attachedTo === undefined
    ? isFree(typeAtSource)
    : isNamed(typeAtSource) || (syncAttachments && isFree(attachedTo));
}

/** What a walk has found. */
interface Found extends Typed {
  readonly hasContent: boolean;
  readonly isAttachment?: boolean;
  readonly isSelectable: boolean;
}

/** Whether an item becomes a file. What was named by itself does, whatever its type. */
export function becomesFile(item: Found, isNamed: boolean, wishes: TypeWishes): boolean {
  const { hasContent, isAttachment, isSelectable } = item;
  const isWanted = hasContent || (isAttachment === true && wishes.syncAttachments === true && isSelectable);
  return isWanted && (isNamed || isChosenByType(item, wishes));
}

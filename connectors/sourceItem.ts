/** The items of a connected account, and pages of items and of changes. */
import type { FileFormat } from '../contract/files/fileFormats.js';
import type { TagValue } from '../contract/files/records.js';
import type { Typed } from '../contract/sources/typesAtSource.js';

/**
 * An item of an account: a folder, a page, a file. Items of ticket and table sources have a type, such as TICKET, by
 * which `auto_synced_source_types` selects the items that become files.
 */
export interface SourceItem extends Typed {
  /** Unique in its account, and the same in every listing. */
  readonly externalId: string;
  /** Its parent; null for a root item. */
  readonly parentExternalId: string | null;
  /** Its root item; null for a root item. */
  readonly rootExternalId: string | null;
  readonly name: string;
  /** A value of the contract: SPACE, FOLDER, PAGE… */
  readonly itemType: string;
  /** Address for a browser. */
  readonly externalUrl: string | null;
  readonly fileFormat: FileFormat | null;
  /** Whether a caller can select it, for itself or its contents. */
  readonly isSelectable: boolean;
  /** Whether it is a container. */
  readonly isExpandable: boolean;
  /** Whether it becomes a file; otherwise only its contents do. */
  readonly hasContent: boolean;
  /** Set for an attachment. With `sync_attachments` it becomes a file even if `hasContent` is false. */
  readonly isAttachment?: true;
  /** ISO 8601. */
  readonly createdAt: string | null;
  /** Changes whenever the content changes: a revision, an ETag, a hash. Null if the listing contains none. */
  readonly version: string | null;
  /** For sources that report deletions by path: its path, with slashes between the names. */
  readonly path?: string;
  /**
   * For an item that does not become a file: a sentence with the reason and what to do. A sync of a selection that
   * contains the item writes it to the ledger and, unless the sync is scheduled, to an event.
   */
  readonly skipReason?: string;
  /** Metadata of the source, as tags of the file; a caller's tags of the same name take precedence. */
  readonly tags?: Readonly<Record<string, TagValue>>;
}

/** An entry that is not an item. A sync of a selection that contains it records its reason like a `skipReason`. */
export interface SkippedItem extends Typed {
  readonly externalId: string;
  readonly name: string;
  /** The reason, and what to do. */
  readonly reason: string;
}

export interface ItemPage {
  readonly items: readonly SourceItem[];
  /** Cursor of the next page, in the source's format; null after the last one. */
  readonly next: string | null;
  /** Containers that the account may not list: their contents are unknown. */
  readonly refused?: readonly string[];
  /** For root items: the pages include their descendants, so the sync does not list those separately. */
  readonly isDeep?: true;
  /** Entries that are not items. */
  readonly skipped?: readonly SkippedItem[];
  /**
   * The source has more items than it lists, so a missing item is not a deleted one. If a page of root items is partial
   * and not deep, known root items that no page of the list contains count as inaccessible, with their contents.
   */
  readonly isPartial?: true;
}

/** A root container, as an operation of the API returns it directly from the source. */
export interface Container {
  /** Its id at the source. */
  readonly id: number;
  /** The externalId of its item. */
  readonly externalId: string;
  readonly url: string | null;
}

export interface ContainerPage {
  readonly containers: readonly Container[];
  /** The number of the next page; null after the last one. */
  readonly next: number | null;
}

/** A change of one item. */
export type Change =
  | { readonly item: SourceItem }
  /** It was deleted, with its contents. */
  | { readonly gone: string };

export interface ChangePage {
  readonly changes: readonly Change[];
  /** Paths that no longer exist, with everything below them, except items in the same page. */
  readonly deletedPaths?: readonly string[];
  /** Cursor of the next page, or of the next sync, in the source's format. */
  readonly next: string;
  /** Whether this sync has more pages. */
  readonly more: boolean;
  /** The page includes the descendants of its items, so the sync does not list those separately. */
  readonly isDeep?: true;
  /**
   * The root items that the feed covers, in the first page of a sync. Each sync lists the other roots completely, and
   * deletes the items that it does not find. Unset: the feed covers all.
   */
  readonly coveredRoots?: readonly string[];
}

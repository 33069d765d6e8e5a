/** The items of a connected account, and pages of items and of changes. */
import type { FileFormat } from '../contract/files/fileFormats.js';
import type { TagValue } from '../contract/files/records.js';
import type { Typed } from '../contract/sources/typesAtSource.js';

/** Something that an account holds: a folder, a page, a file. With a type at its source, it becomes a file where that is asked for. */
export interface SourceItem extends Typed {
  /** Unique in its account, and the same whenever it is listed. */
  readonly externalId: string;
  /** Its parent; null for a root item. */
  readonly parentExternalId: string | null;
  /** Its root item; null for a root item. */
  readonly rootExternalId: string | null;
  readonly name: string;
  /** In the words of the contract: SPACE, FOLDER, PAGE… */
  readonly itemType: string;
  /** Where a person opens it. */
  readonly externalUrl: string | null;
  readonly fileFormat: FileFormat | null;
  /** Whether a caller can select it, for itself or its contents. */
  readonly isSelectable: boolean;
  /** Whether it is a container. */
  readonly isExpandable: boolean;
  /** Whether it becomes a file; otherwise only its contents do. */
  readonly hasContent: boolean;
  /** It is attached to something, and becomes a file also where `sync_attachments` asks for such. */
  readonly isAttachment?: true;
  /** ISO 8601. */
  readonly createdAt: string | null;
  /** Another one whenever its content is another: a revision, an ETag, a hash. Null where its listing does not tell. */
  readonly version: string | null;
  /** For sources that report deletions by path: its path, with slashes between the names. */
  readonly place?: string;
  /** For an item that becomes no file: the reason, in a sentence that says what to do. It is reported when its container is selected. */
  readonly skipReason?: string;
  /** Metadata of the source, as tags of the file; a caller's tags of the same name win. */
  readonly tags?: Readonly<Record<string, TagValue>>;
}

/** An entry that is not an item: the reason is reported when its container is selected. */
export interface SkippedItem extends Typed {
  readonly externalId: string;
  readonly name: string;
  /** A sentence that says what to do. */
  readonly reason: string;
}

export interface ItemPage {
  readonly items: readonly SourceItem[];
  /** Where the next page begins, in the source's own words; null after the last one. */
  readonly next: string | null;
  /** Containers that the account may not list: their contents are unknown. */
  readonly refused?: readonly string[];
  /** For root items: these pages include their descendants, which need no walk. */
  readonly isDeep?: true;
  /** Entries that are not items. */
  readonly skipped?: readonly SkippedItem[];
  /** The source has more than it lists: absence is then no proof of deletion. */
  readonly isPartial?: true;
}

/** A root container, as the source lists it at the time of the call. */
export interface Container {
  /** As the source itself calls it. */
  readonly id: number;
  /** The externalId of its item. */
  readonly name: string;
  readonly url: string | null;
}

export interface ContainerPage {
  readonly containers: readonly Container[];
  /** The number of the next page; null after the last one. */
  readonly next: number | null;
}

/** What happened to one item. */
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
  /** Whether there is more of this pass. */
  readonly more: boolean;
  /** The page includes the descendants of its items, which need no walk. */
  readonly isDeep?: true;
  /**
   * The root items that the feed covers, in the first page of a sync: other roots are listed completely in each
   * sync, and items that are not found are deleted. Unset: it covers all.
   */
  readonly coveredRoots?: readonly string[];
}

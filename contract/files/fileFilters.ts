import type { EmbeddingModelId } from '../vectors/embeddingModels.js';
import type { SourceType } from '../sources/sources.js';
import type { FileSyncStatus } from './statuses.js';

/** One condition of tags_v2: the tag has the value, or any of a list of values. */
export interface TagCondition {
  readonly key: string;
  readonly value: unknown;
  readonly negate?: boolean;
}
export type TagTree =
  | { readonly AND: readonly (TagTree | TagCondition)[] }
  | { readonly OR: readonly (TagTree | TagCondition)[] };

/** Filters of files, combined with AND. An absent or empty filter matches every file, except syncErrorMessage ''. */
export interface FileFilters {
  readonly sources?: readonly SourceType[];
  /** Substring of the name, case ignored. */
  readonly name?: string;
  /** Every key must have the value (or one of a list). Ignored when tagTree is given. */
  readonly tags?: Readonly<Record<string, unknown>>;
  readonly tagTree?: TagTree;
  readonly ids?: readonly number[];
  readonly externalFileIds?: readonly string[];
  readonly externalUrls?: readonly string[];
  readonly syncStatuses?: readonly FileSyncStatus[];
  readonly parentFileIds?: readonly number[];
  /** With parentFileIds: all descendants, not only the direct children. */
  readonly includeAllChildren?: boolean;
  readonly dataSourceIds?: readonly number[];
  readonly embeddingModels?: readonly EmbeddingModelId[];
  readonly rootFilesOnly?: boolean;
  readonly nonSyncedOnly?: boolean;
  readonly requestIds?: readonly string[];
  readonly uploadIds?: readonly string[];
  /** Substring of the message; '' means files without one. */
  readonly syncErrorMessage?: string;
  readonly includeContainers?: boolean;
  readonly fileTypesAtSource?: readonly string[];
  /** Only files whose record was created at this time or later. */
  readonly createdFrom?: Date;
  /** Only files whose record was created before this time. */
  readonly createdBefore?: Date;
}

export const FILE_ORDERS = ['created_at', 'updated_at', 'name', 'last_sync', 'file_size', 'id'] as const;
export type FileOrder = (typeof FILE_ORDERS)[number];
export const ORDER_DIRECTIONS = ['desc', 'asc'] as const;
export type OrderDirection = (typeof ORDER_DIRECTIONS)[number];

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** Only files with a higher id. */
  readonly startingId: number;
}

/** Maximum number of rows per page. */
export const MAX_PAGE_LIMIT = 10_000;

export interface FileListing {
  readonly filters: FileFilters;
  readonly orderBy: FileOrder;
  readonly orderDir: OrderDirection;
  readonly page: Page;
}

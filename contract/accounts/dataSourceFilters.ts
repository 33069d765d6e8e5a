import type { OrderDirection, Page, TagTree } from '../files/fileFilters.js';
import type { SourceType } from '../sources/sources.js';

/** Filters of data sources, combined with AND. */
export interface DataSourceFilters {
  readonly type?: SourceType;
  readonly ids?: readonly number[];
  readonly revokedAccess?: boolean;
  readonly tagTree?: TagTree;
}

export const DATA_SOURCE_ORDERS = ['created_at', 'updated_at'] as const;
export type DataSourceOrder = (typeof DATA_SOURCE_ORDERS)[number];

export interface DataSourceListing {
  readonly filters: DataSourceFilters;
  readonly orderBy: DataSourceOrder;
  readonly orderDir: OrderDirection;
  readonly page: Page;
}

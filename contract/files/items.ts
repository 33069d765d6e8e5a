import type { OrderDirection, Page } from './fileFilters.js';

/** Filters of a data source's items, combined with AND. */
export interface ItemFilters {
  readonly externalIds?: readonly string[];
  readonly ids?: readonly number[];
  /** Substring of the name, case ignored. */
  readonly name?: string;
  readonly rootsOnly?: boolean;
  readonly fileFormats?: readonly string[];
  readonly itemTypes?: readonly string[];
  /** Only direct children of this item. */
  readonly parentExternalId?: string;
}

export const ITEM_ORDERS = ['name', 'id', 'directories_first'] as const;
export type ItemOrder = (typeof ITEM_ORDERS)[number];

export interface ItemListing {
  readonly filters: ItemFilters;
  readonly orderBy: ItemOrder;
  readonly orderDir: OrderDirection;
  readonly page: Page;
}

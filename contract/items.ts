import type { OrderDirection, Page } from './fileFilters.js';

/** Which items of a data source an operation means. All given filters must hold. */
export interface ItemFilters {
  readonly externalIds?: readonly string[];
  readonly ids?: readonly number[];
  /** A part of it, in any case. */
  readonly name?: string;
  readonly rootsOnly?: boolean;
  readonly fileFormats?: readonly string[];
  readonly itemTypes?: readonly string[];
  /** What lies directly in this one. */
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

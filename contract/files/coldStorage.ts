/** Times and operations of hot and cold vector storage. */
import type { FileFilters } from './fileFilters.js';

/** Default number of days in hot storage. */
export const DEFAULT_HOT_DAYS = 30;
/** Upper limit of the days in hot storage, so that dates stay valid. */
export const MAX_HOT_DAYS = 36_500;
export const DAY_MS = 24 * 3_600_000;

/**
 * Returns the milliseconds that vectors stay in hot storage after their last use.
 * @param days value of the file's record; null: the default
 */
export const hotMs = (days: number | null): number => Math.min(days ?? DEFAULT_HOT_DAYS, MAX_HOT_DAYS) * DAY_MS;

/** Request of /modify_cold_storage_parameters; null leaves a value unchanged. */
export interface ColdStorageChange {
  readonly enabled: boolean | null;
  readonly days: number | null;
}

/** Request of a moveStorage run. */
export type MoveRequest =
  | { readonly move: 'toCold' }
  | { readonly move: 'toHot'; readonly filters: FileFilters }
  | { readonly move: 'modify'; readonly filters: FileFilters; readonly change: ColdStorageChange };

export interface MoveProgress {
  /**
   * For `modify`: id of the last changed file. It is set from the start of the run, because the request that accepts
   * the run changes the first files itself.
   */
  readonly modifiedTo?: number;
}

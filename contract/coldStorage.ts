/** How long vectors stay at hand, and what may be asked of where they lie. */
import type { FileFilters } from './fileFilters.js';

/** Of a file whose request names no days. */
export const DEFAULT_HOT_DAYS = 30;
/** More days than anybody waits; a date must stay a date. */
export const MOST_HOT_DAYS = 36_500;
export const DAY_MS = 24 * 3_600_000;

/** Milliseconds that a file's vectors stay at hand after they were last used. @param days as its record has them */
export const hotMs = (days: number | null): number => Math.min(days ?? DEFAULT_HOT_DAYS, MOST_HOT_DAYS) * DAY_MS;

/** What /modify_cold_storage_parameters sets; null leaves as it is. */
export interface ColdStorageChange {
  readonly enabled: boolean | null;
  readonly days: number | null;
}

/** What a run of moveStorage does. */
export type MoveRequest =
  | { readonly move: 'toCold' }
  | { readonly move: 'toHot'; readonly filters: FileFilters }
  | { readonly move: 'modify'; readonly filters: FileFilters; readonly change: ColdStorageChange };

export interface MoveProgress {
  /** Of `modify`: the last changed file. The request itself changes the first files, so an accepted run has it. */
  readonly modifiedTo?: number;
}

/** Files that vanished at their source: kept out of sight for some days, so that they can be had back. */

/**
 * Where such a file stands: its points are on their way into file storage; it is kept; it is on its way back; it is back,
 * and what was stored for it is tidied up; it is being erased.
 */
export const QUARANTINE_STATES = ['leaving', 'kept', 'returning', 'tidying', 'erasing'] as const;

/** Files in quarantine that an operator means; all that is named must hold. */
export interface QuarantineFilters {
  readonly fileIds?: readonly number[];
  readonly dataSourceId?: number;
  readonly parentId?: number;
  readonly customerId?: string;
  /** The run that missed them. */
  readonly runId?: number;
}

/** What a run of settleQuarantine does beside what was left halfway. */
export interface QuarantineRequest {
  /** `restore`: it was given its files when it was accepted. `erase`: those whose time is up. */
  readonly does: 'restore' | 'erase';
}

/** Quarantine of files that no longer exist at their source. They are hidden, and can be restored for some days. */

/**
 * States of a quarantined file. `leaving`: its points are being moved to file storage. `kept`: it is quarantined.
 * `returning`: it is being restored. `tidying`: it is restored, and its stored points are being deleted. `erasing`: it
 * is being deleted.
 */
export const QUARANTINE_STATES = ['leaving', 'kept', 'returning', 'tidying', 'erasing'] as const;

/** Filters of quarantined files, combined with AND. */
export interface QuarantineFilters {
  readonly fileIds?: readonly number[];
  readonly dataSourceId?: number;
  readonly parentId?: number;
  readonly customerId?: string;
  /** The run that did not find them. */
  readonly runId?: number;
}

/** Request of a settleQuarantine run. The run also continues the unfinished work of earlier runs that have ended. */
export interface QuarantineRequest {
  /** `restore`: the files selected when the run was accepted. `erase`: files whose retention has ended. */
  readonly does: 'restore' | 'erase';
}

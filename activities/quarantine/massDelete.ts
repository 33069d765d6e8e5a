/**
 * Up to this number of missing files, only an empty listing holds the deletions: for a source with few files, even one
 * missing file can exceed the percentage.
 */
const MAX_NEVER_HELD = 10;

/** The result of comparing a full listing, or a scrape, with the stored files. */
export interface Missing {
  readonly missing: number;
  /** Number of files before the comparison. */
  readonly files: number;
  /** Whether the listing is empty. */
  readonly isEmpty: boolean;
  /** Whether an operator approved the deletions. */
  readonly isApproved: boolean;
}

/**
 * Returns how many deletions are held until an operator approves them; 0: none. If many files are missing at once, an
 * error of the source is more likely than their deletion.
 * @param percent the setting MASS_DELETE_PERCENT
 */
export function countHeld({ missing, files, isEmpty, isApproved }: Missing, percent: number): number {
  const isLargeShare = missing > MAX_NEVER_HELD && missing > (files * percent) / 100;
  return (isLargeShare || (isEmpty && files > 0)) && !isApproved ? missing : 0;
}

/** Deletions that are never too many: of a handful of files, each is a large share. */
const FEW = 10;

/** What a whole listing of a source, or a pass over a site, did not find. */
export interface Missing {
  readonly missing: number;
  /** Files that the source had before. */
  readonly files: number;
  /** Whether nothing at all was found. */
  readonly isEmpty: boolean;
  /** Whether a person approved the deletions. */
  readonly isApproved: boolean;
}

/**
 * Returns how many deletions are held back until a person approves them; 0: they may be carried out. So much that is
 * missing at once is more likely a fault of the source.
 * @param percent the setting MASS_DELETE_PERCENT
 */
export function countHeld({ missing, files, isEmpty, isApproved }: Missing, percent: number): number {
  const isMuch = missing > FEW && missing > (files * percent) / 100;
  return (isMuch || (isEmpty && files > 0)) && !isApproved ? missing : 0;
}

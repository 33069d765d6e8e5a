/** A group of traits of HTML blocks with their points, and the reason why these traits are used. */
export interface Row {
  readonly reason: string;
  /**
   * Hundredths by which the mean F1 falls without the row, on the half of the development set (WCXB) that was not used
   * to fit the points.
   */
  readonly gain: number;
  readonly points: readonly TraitPoints[];
}

type TraitPoints = readonly [trait: string, points: number];

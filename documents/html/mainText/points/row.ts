/** Points of traits for one reason. */
export interface Row {
  readonly reason: string;
  /** Number of hundredths by which F1 falls on the other half of the development set without the row. */
  readonly gain: number;
  readonly points: readonly TraitPoints[];
}

type TraitPoints = readonly [trait: string, points: number];

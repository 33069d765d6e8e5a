/** Position in a list of active runs by start time, the oldest first. */
export interface RunPosition {
  readonly startedAt: Date;
  /** Runs with this start time that were returned already: a batch of uploads starts many runs at once. */
  readonly ids: readonly number[];
}

/** Returns the conditions for runs that were started until a time, after a position; null: from the oldest run. */
export const startedBetween = (after: RunPosition | null, until: Date) => ({
  startedAt: { $lte: until, ...(after && { $gte: after.startedAt }) },
  ...(after && { _id: { $nin: [...after.ids] } }),
});

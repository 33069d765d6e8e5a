/** The change log of an emulated source: the differences between its current and its previous state. */

export interface LoggedChange {
  readonly key: string;
  /** The previous state. Null: the item is new. */
  readonly before: string | null;
  /** The new state. Null: the item was deleted. */
  readonly now: string | null;
}

export interface ChangeLog {
  /** Compares the current state with the previous one and logs the differences. */
  logChanges(): void;
  /** All changes that the source reports, since the start of the emulator, in order. */
  readonly entries: readonly LoggedChange[];
}

/**
 * @param readState returns the current state: a text for each item by key, which differs when the item has changed
 * @param isReported whether the source reports a change. Unset: it reports every change
 */
export function createChangeLog(
  readState: () => ReadonlyMap<string, string>,
  isReported: (change: LoggedChange, now: ReadonlyMap<string, string>) => boolean = () => true,
): ChangeLog {
  let previous: ReadonlyMap<string, string> = new Map();
  const entries: LoggedChange[] = [];
  return {
    entries,
    logChanges() {
      const now = new Map(readState());
      const logIfReported = (change: LoggedChange): void => {
        if (isReported(change, now)) entries.push(change);
      };
      for (const [key, before] of previous) if (!now.has(key)) logIfReported({ key, before, now: null });
      for (const [key, state] of now) {
        const before = previous.get(key) ?? null;
        if (before !== state) logIfReported({ key, before, now: state });
      }
      previous = now;
    },
  };
}

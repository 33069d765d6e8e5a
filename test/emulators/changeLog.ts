/** The changes at an emulated source, found by comparing its current state with its previous one. */

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
  /** All changes since the beginning, in order. */
  readonly entries: readonly LoggedChange[];
}

/**
 * @param all returns the current state, a text by key; a changed item has another text
 * @param isReported whether the source reports a change. Unset: it reports every change
 */
export function createChangeLog(
  all: () => ReadonlyMap<string, string>,
  isReported: (change: LoggedChange, now: ReadonlyMap<string, string>) => boolean = () => true,
): ChangeLog {
  let previous: ReadonlyMap<string, string> = new Map();
  const entries: LoggedChange[] = [];
  return {
    entries,
    logChanges() {
      const now = new Map(all());
      const enter = (change: LoggedChange): void => {
        if (isReported(change, now)) entries.push(change);
      };
      for (const [key, before] of previous) if (!now.has(key)) enter({ key, before, now: null });
      for (const [key, state] of now) {
        const before = previous.get(key) ?? null;
        if (before !== state) enter({ key, before, now: state });
      }
      previous = now;
    },
  };
}

/** What happened at an emulated source, found by comparing what there is with what there was. */

export interface LoggedChange {
  readonly key: string;
  /** What it was before; null: it is new. */
  readonly before: string | null;
  /** What it is since; null: it is gone. */
  readonly now: string | null;
}

export interface ChangeLog {
  /** Looks at what there is by now. */
  look(): void;
  /** All that happened since the beginning, in order. */
  readonly entries: readonly LoggedChange[];
}

/**
 * @param all what there is, by key: another text whenever it is another
 * @param isTold whether a source tells of a change. Unset: of each
 */
export function createChangeLog(
  all: () => ReadonlyMap<string, string>,
  isTold: (change: LoggedChange, now: ReadonlyMap<string, string>) => boolean = () => true,
): ChangeLog {
  let known: ReadonlyMap<string, string> = new Map();
  const entries: LoggedChange[] = [];
  return {
    entries,
    look() {
      const now = new Map(all());
      const enter = (change: LoggedChange): void => {
        if (isTold(change, now)) entries.push(change);
      };
      for (const [key, before] of known) if (!now.has(key)) enter({ key, before, now: null });
      for (const [key, state] of now) {
        const before = known.get(key) ?? null;
        if (before !== state) enter({ key, before, now: state });
      }
      known = now;
    },
  };
}

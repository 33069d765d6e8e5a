import { type Difference, DIFFERENCES, type DifferenceKind, type RepairResult } from './differences.js';

/** Maximum number of examples for each kind of difference. */
const EXAMPLES = 5;

export interface KindReport {
  count: number;
  /** Number of repaired differences, under the name that the JSON output of `reconcile` has. */
  mended: number;
  /** Descriptions of the first differences, each with the result of its repair. */
  readonly examples: string[];
}

/** Counts differences by kind, in bounded memory. */
export interface DifferenceReport {
  add(difference: Difference, repaired: RepairResult | null): void;
  /** Returns the kinds with differences, in a fixed order. */
  kinds(): Map<DifferenceKind, KindReport>;
  /** Returns the number of differences that were not repaired. */
  countUnrepaired(): number;
}

export function createDifferenceReport(): DifferenceReport {
  const found = new Map<DifferenceKind, KindReport>();
  return {
    add({ kind, what, organizationId }, repaired) {
      const kindReport = found.get(kind) ?? { count: 0, mended: 0, examples: [] };
      found.set(kind, kindReport);
      kindReport.count += 1;
      if (repaired?.done === true) kindReport.mended += 1;
      const outcome = repaired?.done === false ? ` (not repaired: ${repaired.why})` : '';
      if (kindReport.examples.length < EXAMPLES)
        kindReport.examples.push(`organization ${organizationId}, ${what}${outcome}`);
    },
    kinds: () =>
      new Map(
        (Object.keys(DIFFERENCES) as DifferenceKind[]).flatMap((kind) => {
          const kindReport = found.get(kind);
          return kindReport ? [[kind, kindReport] as const] : [];
        }),
      ),
    countUnrepaired: () => [...found.values()].reduce((sum, { count, mended }) => sum + count - mended, 0),
  };
}

import { type Difference, DIFFERENCES, type DifferenceKind, type RepairResult } from './differences.js';

/** Maximum number of examples for each kind of difference. */
const EXAMPLES = 5;

export interface KindReport {
  count: number;
  mended: number;
  /** The first few, each with the result of its repair. */
  readonly examples: string[];
}

/** Counts differences by kind, in bounded memory. */
export interface DifferenceReport {
  add(difference: Difference, mended: RepairResult | null): void;
  /** Returns the kinds with differences, in a fixed order. */
  kinds(): Map<DifferenceKind, KindReport>;
  /** Returns the number of differences that were not repaired. */
  left(): number;
}

export function createDifferenceReport(): DifferenceReport {
  const found = new Map<DifferenceKind, KindReport>();
  return {
    add({ kind, what, organizationId }, mended) {
      const known = found.get(kind) ?? { count: 0, mended: 0, examples: [] };
      found.set(kind, known);
      known.count += 1;
      if (mended?.done === true) known.mended += 1;
      const outcome = mended?.done === false ? ` (not repaired: ${mended.why})` : '';
      if (known.examples.length < EXAMPLES) known.examples.push(`organization ${organizationId}, ${what}${outcome}`);
    },
    kinds: () =>
      new Map(
        (Object.keys(DIFFERENCES) as DifferenceKind[]).flatMap((kind) => {
          const one = found.get(kind);
          return one ? [[kind, one] as const] : [];
        }),
      ),
    left: () => [...found.values()].reduce((sum, { count, mended }) => sum + count - mended, 0),
  };
}

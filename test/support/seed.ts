/** Reproducible random numbers: a run prints its seed, and TEST_SEED repeats the run. */
import { randomInt } from 'node:crypto';

export interface SeededRandom {
  /** Returns an integer from 0 to below the limit. */
  below(below: number): number;
  pick<T>(from: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
}

/** @param label name of the suite, printed with the seed */
export function seededRandom(label: string): SeededRandom {
  const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31));
  process.stdout.write(`${label}: TEST_SEED=${seed} repeats it\n`);
  let state = seed;
  /** The generator mulberry32, which returns the same numbers on every machine. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    pick: (from) => from[below(from.length)]!,
    shuffle: (items) =>
      items
        .map((item) => ({ item, at: next() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ item }) => item),
  };
}

/** Number of samples of the bootstrap. */
const SAMPLES = 2000;

interface PairedGain {
  readonly mean: number;
  /** Bounds of the 95 % interval. */
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the mean of the differences between two measurements of the same pages, with the 95 % interval of a
 * bootstrap. The random numbers are the same in every run.
 */
export function pairedGain(differences: readonly number[]): PairedGain {
  const size = differences.length;
  let state = 12_345;
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
  const means = Array.from({ length: SAMPLES }, () => {
    let sum = 0;
    for (let i = 0; i < size; i++) sum += differences[Math.floor(next() * size)] ?? 0;
    return sum / size;
  }).toSorted((a, b) => a - b);
  const quantile = (share: number): number => means[Math.floor(share * (SAMPLES - 1))] ?? Number.NaN;
  return { mean: differences.reduce((sum, one) => sum + one, 0) / size, low: quantile(0.025), high: quantile(0.975) };
}

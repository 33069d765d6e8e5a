/**
 * Returns the mean of the vectors of a text's windows, weighted by their numbers of tokens and normalised to length 1.
 */
export function joinWindows(windows: readonly { vector: Float32Array; tokens: number }[]): Float32Array<ArrayBuffer> {
  const sum = new Array<number>(windows[0]?.vector.length ?? 0).fill(0);
  for (const { vector, tokens } of windows) {
    // An empty text has one window without tokens.
    const weight = Math.max(tokens, 1);
    vector.forEach((x, i) => (sum[i] = (sum[i] ?? 0) + weight * x));
  }
  const length = Math.hypot(...sum);
  return Float32Array.from(sum, (x) => x / length);
}

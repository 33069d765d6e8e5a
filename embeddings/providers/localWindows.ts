/** As trained, the model reads 256 positions; [CLS] and [SEP] take two of them. */
export const WINDOW_PIECES = 254;

/** Cuts a text's word pieces into windows that the model can read whole. A text without any has one empty window. */
export function splitWindows(pieces: readonly number[]): number[][] {
  const windows: number[][] = [];
  for (let start = 0; start < pieces.length || start === 0; start += WINDOW_PIECES) {
    windows.push(pieces.slice(start, start + WINDOW_PIECES));
  }
  return windows;
}

/** Joins the vectors of a text's windows: each counts by its word pieces, and the result has length 1. */
export function joinWindows(windows: readonly { vector: Float32Array; pieces: number }[]): Float32Array<ArrayBuffer> {
  const sum = new Array<number>(windows[0]?.vector.length ?? 0).fill(0);
  for (const { vector, pieces } of windows) {
    // The empty window of an empty text still has the vector of [CLS] and [SEP].
    const weight = Math.max(pieces, 1);
    vector.forEach((x, i) => (sum[i] = (sum[i] ?? 0) + weight * x));
  }
  const length = Math.hypot(...sum);
  return Float32Array.from(sum, (x) => x / length);
}

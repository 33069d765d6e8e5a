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

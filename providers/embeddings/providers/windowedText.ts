import { joinWindows } from '../joinWindows.js';
import { sliceEnd, type TextPart, WINDOW_PIECES } from './localWindows.js';

/** What came of one part of a text. */
export interface EmbeddedPart {
  /** Null: the word pieces fill no window yet, or none are left. */
  readonly vector: Float32Array | null;
  /** Word pieces of the window. */
  readonly tokens: number;
  /** Word pieces that are left over. */
  readonly carry: readonly number[];
}

/** A text that is embedded window by window: what is to be asked next, and what has been answered. */
export interface WindowedText {
  /** The next request. The one before must have been answered. */
  next(): TextPart;
  /** Takes the answer to the last request. @returns the text's vector with the last answer; null: ask for the next window */
  take(answer: EmbeddedPart): Float32Array | null;
}

/** Embeds a text in steps of at most one window and one slice. The steps together give the windows of the whole text's word pieces. */
export function windowedText(text: string): WindowedText {
  const windows: { vector: Float32Array; tokens: number }[] = [];
  /** Word pieces that are in no window yet begin at `used`. */
  let pieces: readonly number[] = [];
  let used = 0;
  let end = 0;
  return {
    next() {
      const isFull = pieces.length - used >= WINDOW_PIECES;
      // Pieces are sent back only for the window that they fill, so that a long slice is not copied for each of its windows.
      const carry = pieces.slice(used, isFull ? used + WINDOW_PIECES : undefined);
      used += carry.length;
      const from = end;
      if (!isFull) end = sliceEnd(text, from);
      const slice = text.slice(from, end);
      return { carry, slice, isLast: end === text.length && used === pieces.length, isFirst: windows.length === 0 };
    },
    take({ vector, tokens, carry }) {
      // Copied, because it is a view of the message: on its own buffer it can be transferred, and keeps no more alive.
      if (vector) windows.push({ vector: new Float32Array(vector), tokens });
      if (used === pieces.length) [pieces, used] = [carry, 0];
      return end === text.length && used === pieces.length ? joinWindows(windows) : null;
    },
  };
}

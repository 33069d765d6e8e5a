import { joinWindows } from '../joinWindows.js';
import { sliceEnd, type TextPart, WINDOW_PIECES } from './localWindows.js';

/** The result for one part of a text. */
export interface EmbeddedPart {
  /** Null: the word pieces do not fill a window yet, or none are left. */
  readonly vector: Float32Array | null;
  /** Number of word pieces in the window. */
  readonly tokens: number;
  /** The remaining word pieces. */
  readonly carry: readonly number[];
}

/** Embeds one text window by window: builds the next request and collects the replies. */
export interface WindowedText {
  /** Returns the next request. The previous one must have been answered. */
  nextRequest(): TextPart;
  /**
   * Accepts the reply to the last request.
   * @returns the text's vector after the last reply; null: request the next window
   */
  addReply(answer: EmbeddedPart): Float32Array | null;
}

/**
 * Embeds a text in steps of at most one window and one slice. Together the steps give the windows of the whole text's
 * word pieces.
 */
export function windowedText(text: string): WindowedText {
  const windows: { vector: Float32Array; tokens: number }[] = [];
  /** Word pieces that are not in a window yet begin at `usedPieces`. */
  let pieces: readonly number[] = [];
  let usedPieces = 0;
  let slicedTo = 0;
  return {
    nextRequest() {
      const isFull = pieces.length - usedPieces >= WINDOW_PIECES;
      // Send only the pieces that fill the next window, so that the pieces of a long slice are not copied to the
      // process again for each window.
      const carry = pieces.slice(usedPieces, isFull ? usedPieces + WINDOW_PIECES : undefined);
      usedPieces += carry.length;
      const from = slicedTo;
      if (!isFull) slicedTo = sliceEnd(text, from);
      const slice = text.slice(from, slicedTo);
      return {
        carry,
        slice,
        isLast: slicedTo === text.length && usedPieces === pieces.length,
        isFirst: windows.length === 0,
      };
    },
    addReply({ vector, tokens, carry }) {
      // Copy the vector, which is a view of the message. With its own buffer it can be transferred, and the message is
      // freed.
      if (vector) windows.push({ vector: new Float32Array(vector), tokens });
      if (usedPieces === pieces.length) [pieces, usedPieces] = [carry, 0];
      return slicedTo === text.length && usedPieces === pieces.length ? joinWindows(windows) : null;
    },
  };
}

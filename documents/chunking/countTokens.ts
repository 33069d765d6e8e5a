import { CL100K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { isAscii, isToken, mergeBytes, toByteString } from './bytePairs.js';

/** Longer pieces are rare and each a different one: not worth remembering. */
const LONGEST_REMEMBERED = 48;
const MOST_REMEMBERED = 50_000;
const remembered = new Map<string, number>();

/**
 * cl100k tokens of a text. Texts that look like special tokens (`<|endoftext|>`) count as the ordinary text they are.
 */
export function countTokens(text: string): number {
  let tokens = 0;
  eachPiece(text, (start, end) => {
    tokens += countPiece(text.slice(start, end));
    return true;
  });
  return tokens;
}

/**
 * Calls `visit` with the bounds of each piece that cl100k merges on its own, in order, until it returns false.
 * Tokens never reach across pieces, so that counts of pieces add up.
 */
export function eachPiece(text: string, visit: (start: number, end: number) => boolean): void {
  // A regular expression of its own per call: lastIndex is state, and visitors may count again.
  const pieces = new RegExp(CL100K_TOKEN_SPLIT_REGEX.source, 'gu');
  let start = 0;
  while (pieces.test(text)) {
    if (!visit(start, pieces.lastIndex)) return;
    start = pieces.lastIndex;
  }
}

/** Tokens of one piece. */
export function countPiece(piece: string): number {
  const known = remembered.get(piece);
  if (known !== undefined) return known;
  const ascii = isAscii(piece);
  if (ascii && isToken(piece)) return 1;
  const tokens = mergeBytes(ascii ? piece : toByteString(piece)).length;
  if (piece.length <= LONGEST_REMEMBERED) {
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    remembered.set(piece, tokens);
  }
  return tokens;
}

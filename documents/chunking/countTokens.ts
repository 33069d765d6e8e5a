import { isAscii, mergeBytes, toByteString } from './bytePairs.js';
import { eachPiece } from './pieces.js';
import { TokenTable } from './tokenTable.js';

const remembered = new TokenTable();

/**
 * cl100k tokens of a text. Texts that look like special tokens (`<|endoftext|>`) count as the ordinary text they are.
 */
export function countTokens(text: string): number {
  let tokens = 0;
  eachPiece(text, (start, end) => {
    tokens += countPiece(text, start, end);
    return true;
  });
  return tokens;
}

/** Tokens of `text.slice(start, end)`, which is one piece. */
export const countPiece = (text: string, start: number, end: number): number =>
  remembered.tokensOf(text, start, end, countMerged);

const countMerged = (piece: string): number => mergeBytes(isAscii(piece) ? piece : toByteString(piece)).length;

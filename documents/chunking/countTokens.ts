import { CL100K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { isAscii, mergeBytes, toByteString } from './bytePairs.js';

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
  const pieces = new RegExp(CL100K_TOKEN_SPLIT_REGEX.source, 'uy');
  for (let start = 0; start < text.length;) {
    let end = plainWordEnd(text, start);
    if (end === 0) {
      pieces.lastIndex = start;
      if (!pieces.test(text)) return;
      end = pieces.lastIndex;
    }
    if (!visit(start, end)) return;
    start = end;
  }
}

/**
 * Where an English word, with the space before it, ends; 0 where no such word begins. Most pieces are that, and need
 * no regular expression: the expression's rule for letters takes one leading space and all letters that follow.
 */
function plainWordEnd(text: string, start: number): number {
  const first = text.charCodeAt(start) === 32 ? start + 1 : start;
  let at = first;
  let unit = text.charCodeAt(at);
  while ((unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90)) unit = text.charCodeAt(++at);
  // A letter beyond ASCII may follow; at the end of the text the unit is NaN.
  return at === first || unit > 127 ? 0 : at;
}

/** Tokens of one piece. Words repeat, so most are known from a table far smaller, and nearer, than the vocabulary's. */
export function countPiece(piece: string): number {
  const known = remembered.get(piece);
  if (known !== undefined) return known;
  const tokens = mergeBytes(isAscii(piece) ? piece : toByteString(piece)).length;
  if (piece.length <= LONGEST_REMEMBERED) {
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    remembered.set(piece, tokens);
  }
  return tokens;
}

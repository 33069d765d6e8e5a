import { isAscii, mergeBytes, toByteString } from './bytePairs.js';
import { forEachPreToken } from './preTokens.js';
import { TokenTable } from './tokenTable.js';

const tokenCounts = new TokenTable();

/** Counts the cl100k tokens of a text. Special tokens in it (`<|endoftext|>`) count as ordinary text. */
export function countTokens(text: string): number {
  let tokens = 0;
  forEachPreToken(text, (start, end) => {
    tokens += countPreToken(text, start, end);
    return true;
  });
  return tokens;
}

/** Counts the tokens of `text.slice(start, end)`, which must be one pre-token. */
export const countPreToken = (text: string, start: number, end: number): number =>
  tokenCounts.tokensOf(text, start, end, countMerged);

const countMerged = (preToken: string): number =>
  mergeBytes(isAscii(preToken) ? preToken : toByteString(preToken)).length;

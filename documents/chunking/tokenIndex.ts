import { mergeBytes, toByteString } from './bytePairs.js';
import { countPreToken, countTokens } from './countTokens.js';
import { PreTokens } from './preTokens.js';
import { sortedIndex } from './sortedIndex.js';

/** Characters of a long text that are indexed together: an index of all would take more memory than the text. */
const WINDOW_CHARACTERS = 1 << 25;
/**
 * Characters that the index covers beyond a chunk's start, per token of the chunk: the longest tokens have 128
 * characters.
 */
const LOOKAHEAD = 200;

/**
 * An index of the tokens of a text, or of a window of a long text. The tokenizer first splits a text into pre-tokens
 * (words, numbers, white space), then each pre-token into tokens. Tokens never span pre-tokens, so the number of tokens
 * of a part is the difference of two sums. Pre-tokens that the start or end of the part splits are counted separately.
 */
export class TokenIndex {
  readonly text: string;
  /** Number of tokens of the text up to the end of the window. */
  readonly total: number;
  /** End of the window. */
  readonly end: number;
  /** The start of the first pre-token, then the end of each pre-token, ascending. */
  readonly #ends: Int32Array;
  /** Number of tokens of the text up to each of these ends. */
  readonly #sums: Int32Array;

  /**
   * Builds the index.
   * @param before the end of the pre-token before the window, and the number of tokens up to there
   */
  constructor(text: string, before = { end: 0, tokens: 0 }) {
    const windowEnd = before.end + WINDOW_CHARACTERS;
    let ends = new Int32Array(1024 + (Math.min(text.length - before.end, WINDOW_CHARACTERS) >> 2));
    let sums = new Int32Array(ends.length);
    let preTokens = 1;
    let total = before.tokens;
    ends[0] = before.end;
    sums[0] = total;
    const read = new PreTokens(text, before.end);
    while ((ends[preTokens - 1] ?? 0) < windowEnd && read.next()) {
      if (preTokens === ends.length) {
        ends = enlarge(ends);
        sums = enlarge(sums);
      }
      total += countPreToken(read);
      ends[preTokens] = read.end;
      sums[preTokens] = total;
      preTokens++;
    }
    this.text = text;
    this.total = total;
    this.end = ends[preTokens - 1] ?? text.length;
    this.#ends = ends.subarray(0, preTokens);
    this.#sums = sums.subarray(0, preTokens);
  }

  /**
   * Returns this index if it reaches far enough from `offset` for a chunk of this many tokens; otherwise builds one
   * that begins at `from` or slightly before.
   */
  reaching(offset: number, from: number, tokens: number): TokenIndex {
    if (this.end === this.text.length || offset + LOOKAHEAD * (tokens + 100) < this.end) return this;
    const at = sortedIndex(this.#ends, from);
    return new TokenIndex(this.text, { end: this.#endAt(at), tokens: this.#sumAt(at) });
  }

  /**
   * Counts the cl100k tokens of `text.slice(start, end)` exactly, for a start inside the window. The time depends only
   * on the split pre-tokens.
   */
  count(start: number, end: number): number {
    let tokens = 0;
    let at = start;
    if (!this.#isEnd(start)) {
      // The pre-tokens of the part differ from those of the whole text until one of them ends where a pre-token of the
      // whole text ends. Count up to there; the sums of the index cover the rest.
      const part = new PreTokens(this.text.slice(start, end));
      while (!this.#isEnd(at) && part.next()) {
        tokens += countPreToken(part);
        at = start + part.end;
      }
    }
    const last = sortedIndex(this.#ends, end);
    const lastEnd = this.#endAt(last);
    if (lastEnd <= at) return at < end ? tokens + this.#countCut(at, end) : tokens;
    tokens += this.#sumAt(last) - this.#sumAt(sortedIndex(this.#ends, at));
    return lastEnd < end ? tokens + this.#countCut(lastEnd, end) : tokens;
  }

  /**
   * Whether the part has at most `limit` tokens. The count is exact near the limit, and estimated from the sums far
   * from it.
   */
  fits(start: number, end: number, limit: number): boolean {
    const first = sortedIndex(this.#ends, start);
    const last = sortedIndex(this.#ends, end);
    // Maximum difference that the split pre-tokens at the two ends can make.
    const slack = 16;
    const whole = this.#sumAt(last + 1) - this.#sumAt(first);
    if (whole + slack <= limit) return true;
    // Estimate a split pre-token by the share of its characters. An exact count of a word of a megabyte would read the
    // rest of the word again for each chunk.
    if (this.#estimate(start, end) > limit * 1.5 + slack) return false;
    return this.count(start, end) <= limit;
  }

  /**
   * Returns the end of the last pre-token with which the part from `start` has at most `limit` tokens. Returns `start`
   * if no pre-token fits.
   */
  reach(start: number, limit: number): number {
    const first = sortedIndex(this.#ends, start);
    let at = Math.max(first, sortedIndex(this.#sums, this.#sumAt(first) + limit));
    while (this.#endAt(at) > start && this.count(start, this.#endAt(at)) > limit) at--;
    while (
      at + 1 < this.#ends.length &&
      this.#endAt(at + 1) - start <= limit * 16 &&
      this.count(start, this.#endAt(at + 1)) <= limit
    )
      at++;
    return Math.max(start, this.#endAt(at));
  }

  /**
   * Returns approximately the start of the last `limit` tokens before `end`. The position is too early only if `end`
   * splits a pre-token, whose tokens are not counted.
   */
  reachBack(end: number, limit: number): number {
    const last = sortedIndex(this.#ends, end);
    const from = sortedIndex(this.#sums, this.#sumAt(last) - limit - 1) + 1;
    return Math.min(end, this.#endAt(from));
  }

  /**
   * Returns the largest end inside the pre-token after `from` with which the part from `start` has at most `limit`
   * tokens. `from` is the end of a pre-token, or `start`. A character is never split, even if it exceeds the limit
   * alone.
   */
  cutInside(start: number, from: number, limit: number): number {
    const remaining = limit - this.count(start, from);
    if (remaining <= 0 && from > start) return from;
    const preTokenEnd = this.#endAt(sortedIndex(this.#ends, from) + 1);
    let length = Math.max(64, remaining * 8);
    let end = from;
    for (;;) {
      const window = this.text.slice(from, this.#betweenCharacters(Math.min(preTokenEnd, from + length)));
      const bytes = toByteString(window);
      const tokenEnds = mergeBytes(bytes);
      end = from + charactersIn(window, tokenEnds[Math.min(remaining, tokenEnds.length) - 1] ?? 0);
      if (tokenEnds.length > remaining || from + length >= preTokenEnd) break;
      length *= 2;
    }
    while (end > from && this.count(start, end) > limit) end = this.#betweenCharacters(end - 1);
    if (end > start) return end;
    return start + ((this.text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
  }

  /** Returns the offset, or the one before it if it would split a surrogate pair. */
  #betweenCharacters(offset: number): number {
    return (this.text.codePointAt(offset - 1) ?? 0) > 0xffff ? offset - 1 : offset;
  }

  /** Estimates the tokens of the part: split pre-tokens at its ends count by the share of their characters inside. */
  #estimate(start: number, end: number): number {
    return this.#sumUpTo(end) - this.#sumUpTo(start);
  }

  #sumUpTo(offset: number): number {
    const at = sortedIndex(this.#ends, offset);
    const preTokenStart = this.#endAt(at);
    const preTokenEnd = this.#endAt(at + 1);
    if (offset === preTokenStart || preTokenEnd === preTokenStart) return this.#sumAt(at);
    const share = (offset - preTokenStart) / (preTokenEnd - preTokenStart);
    return this.#sumAt(at) + share * (this.#sumAt(at + 1) - this.#sumAt(at));
  }

  #countCut(start: number, end: number): number {
    return countTokens(this.text.slice(start, end));
  }

  #isEnd(offset: number): boolean {
    return this.#endAt(sortedIndex(this.#ends, offset)) === offset;
  }

  #endAt(index: number): number {
    return this.#ends[index] ?? this.text.length;
  }

  #sumAt(index: number): number {
    return this.#sums[index] ?? this.total;
  }
}

function enlarge(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const bigger = new Int32Array(array.length * 2);
  bigger.set(array);
  return bigger;
}

/** Counts the whole characters in the first `bytes` bytes of a text's UTF-8 encoding, in UTF-16 units. */
function charactersIn(text: string, bytes: number): number {
  let seen = 0;
  let units = 0;
  for (const character of text) {
    seen += Buffer.byteLength(character);
    if (seen > bytes) break;
    units += character.length;
  }
  return units;
}

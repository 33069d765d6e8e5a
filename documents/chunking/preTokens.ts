import { CL100K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { DIGIT, kindOf, LETTER, NEWLINE, OTHER, SPACE, SURROGATE } from './unitKinds.js';

/**
 * Number of UTF-16 units of the first copy, and maximum number of units of a copy. The first copy is small, because
 * often only the first pre-tokens of a text are read. Each further copy is up to four times as large.
 */
const FIRST_COPY = 1 << 8;
const LARGEST_COPY = 1 << 14;
/**
 * If the copy ends less than this number of units after the start of a pre-token, a new copy begins at that pre-token.
 * Few pre-tokens are longer.
 */
const MARGIN = 64;
/**
 * Units that are appended to a copy that reaches the end of the text. A line end and a letter end each kind of
 * pre-token, so the last pre-token ends there.
 */
const END_MARK = [0x0a, 0x61];
/** Units that are appended to any other copy: at half of a surrogate pair, the scan returns UNKNOWN. */
const CUT_MARK = [0xd800, 0xd800];
/** End of a pre-token that the scan cannot find. */
const UNKNOWN = -1;

/**
 * Reads the pre-tokens of a text in order: the parts that cl100k merges separately. Tokens never span pre-tokens, so the
 * counts of pre-tokens add up. Reading may begin inside a text, at `from`, or with a part of a text. The first
 * pre-tokens may then differ from those of the whole text. Once a pre-token ends where one of the whole text ends, all
 * later ones are the same as in the whole text.
 */
export class PreTokens {
  readonly text: string;
  /** Bounds of the current pre-token in the text. */
  start: number;
  end: number;
  /**
   * A copy of a part of the text, with a mark after it. It contains the current pre-token unless that is longer than
   * MARGIN. A typed array is read several times faster than a string.
   */
  units: Uint16Array;
  /** Bounds of the copy in the text. */
  copiedFrom: number;
  #copiedTo: number;
  #expression: RegExp | null = null;

  constructor(text: string, from = 0) {
    this.text = text;
    this.start = from;
    this.end = from;
    this.copiedFrom = from;
    this.#copiedTo = Math.min(text.length, from + FIRST_COPY);
    this.units = this.#copy();
  }

  /** Continues with the next pre-token; returns false at the end of the text. */
  next(): boolean {
    const start = this.end;
    const { length } = this.text;
    if (start >= length) return false;
    if (start + MARGIN > this.#copiedTo && this.#copiedTo < length) {
      const copied = this.#copiedTo - this.copiedFrom;
      this.copiedFrom = start;
      this.#copiedTo = Math.min(length, start + Math.min(LARGEST_COPY, 4 * copied));
      this.units = this.#copy();
    }
    const end = preTokenEnd(this.units, start - this.copiedFrom);
    this.start = start;
    this.end = end === UNKNOWN ? this.#match(start) : Math.min(this.copiedFrom + end, length);
    return this.end > start;
  }

  #copy(): Uint16Array {
    const length = this.#copiedTo - this.copiedFrom;
    const bytes = Buffer.allocUnsafe(2 * (length + 2));
    bytes.write(this.text.slice(this.copiedFrom, this.#copiedTo), 'utf16le');
    const units = new Uint16Array(bytes.buffer, bytes.byteOffset, length + 2);
    units.set(this.#copiedTo === this.text.length ? END_MARK : CUT_MARK, length);
    return units;
  }

  /** Returns the end of the pre-token by the expression, which is several times slower. */
  #match(start: number): number {
    this.#expression ??= new RegExp(CL100K_TOKEN_SPLIT_REGEX.source, 'uy');
    this.#expression.lastIndex = start;
    return this.#expression.test(this.text) ? this.#expression.lastIndex : start;
  }
}

/**
 * Returns the end of the pre-token that begins at `start`; UNKNOWN if it contains or touches a surrogate: then the
 * expression decides. It tries these kinds of pre-token in order: the ending of a contraction; letters, after at most
 * one character that is neither a digit nor a line end; up to three digits; punctuation, after at most one space and
 * with the following line ends; white space. White space ends at its last line end. If it has none, all but its last
 * character is a pre-token; a single character is one too.
 */
function preTokenEnd(units: Uint16Array, start: number): number {
  const first = kindOf(units, start);
  const second = kindOf(units, start + 1);
  if (first === SURROGATE) return UNKNOWN;
  if (first === LETTER || (second === LETTER && (first === SPACE || first === OTHER))) {
    const contraction = first === OTHER ? contractionEnd(units, start) : 0;
    return contraction === 0 ? runEnd(units, start + 1, LETTER) : contraction;
  }
  if (second === SURROGATE) return UNKNOWN;
  if (first === DIGIT) {
    if (second !== DIGIT) return start + 1;
    const third = kindOf(units, start + 2);
    if (third === SURROGATE) return UNKNOWN;
    return third === DIGIT ? start + 3 : start + 2;
  }
  if (first === OTHER || (second === OTHER && units[start] === 32)) {
    const end = runEnd(units, start + 1, OTHER);
    return end === UNKNOWN ? UNKNOWN : runEnd(units, end, NEWLINE);
  }
  return spaceEnd(units, start);
}

/** Returns the end of a run of one kind, which may be empty; UNKNOWN if a surrogate follows. */
function runEnd(units: Uint16Array, start: number, kind: number): number {
  let at = start;
  let next = kindOf(units, at);
  while (next === kind) next = kindOf(units, ++at);
  return next === SURROGATE ? UNKNOWN : at;
}

function spaceEnd(units: Uint16Array, start: number): number {
  let afterNewline = 0;
  let at = start;
  let next = kindOf(units, at);
  while (next === SPACE || next === NEWLINE) {
    at++;
    if (next === NEWLINE) afterNewline = at;
    next = kindOf(units, at);
  }
  if (next === SURROGATE) return UNKNOWN;
  if (afterNewline !== 0) return afterNewline;
  return at - start > 1 ? at - 1 : at;
}

/** Returns the end of `'s`, `'t`, `'m`, `'d`, `'ll`, `'ve` or `'re` in either case; 0 if none begins at `start`. */
function contractionEnd(units: Uint16Array, start: number): number {
  if (units[start] !== 39) return 0;
  // Setting bit 5 converts letters to lower case; no other character becomes one of these letters.
  const first = (units[start + 1] ?? 0) | 32;
  if (first === 0x73 || first === 0x74 || first === 0x6d || first === 0x64) return start + 2;
  const second = (units[start + 2] ?? 0) | 32;
  const isLong = (first === 0x6c && second === 0x6c) || ((first === 0x76 || first === 0x72) && second === 0x65);
  return isLong ? start + 3 : 0;
}

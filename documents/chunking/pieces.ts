import { CL100K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';

/**
 * Calls `visit` with the bounds of each piece that cl100k merges on its own, in order, until it returns false. From where
 * a piece ends, they are those of the whole text.
 * Tokens never reach across pieces, so that counts of pieces add up.
 */
export function eachPiece(text: string, visit: (start: number, end: number) => boolean, from = 0): void {
  // A regular expression of its own per call: lastIndex is state, and visitors may count again.
  const pieces = new RegExp(CL100K_TOKEN_SPLIT_REGEX.source, 'uy');
  for (let start = from; start < text.length;) {
    let end = asciiPieceEnd(text, start);
    if (end === 0) {
      pieces.lastIndex = start;
      if (!pieces.test(text)) return;
      end = pieces.lastIndex;
    }
    if (!visit(start, end)) return;
    start = end;
  }
}

const OTHER = 0;
const LETTER = 1;
const DIGIT = 2;
const SPACE = 3;
const NEWLINE = 4;
const BEYOND_ASCII = 5;
const END = 6;

/** What each ASCII character is to the expression; control characters are like punctuation to it. */
const KINDS = Uint8Array.from({ length: 128 }, (_, unit) => {
  const character = String.fromCharCode(unit);
  if (/[a-z]/i.test(character)) return LETTER;
  if (/\d/.test(character)) return DIGIT;
  if (/[\r\n]/.test(character)) return NEWLINE;
  return /\s/.test(character) ? SPACE : OTHER;
});

function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 128) return KINDS[unit] ?? OTHER;
  return at < text.length ? BEYOND_ASCII : END;
}

/**
 * Where the piece that begins at `start` ends, found by hand, several times as fast as by the expression; 0 where it
 * holds or touches anything beyond ASCII, which is left to the expression. Its alternatives in their order: the ending
 * of a contraction; letters, after any one character; up to three digits; punctuation, after a space, with line ends
 * behind it; white space up to its last line end, or else without its last character, which goes to what follows.
 */
function asciiPieceEnd(text: string, start: number): number {
  const first = kindAt(text, start);
  if (first === BEYOND_ASCII) return 0;
  const second = kindAt(text, start + 1);
  if (first === LETTER || (second === LETTER && (first === SPACE || first === OTHER))) {
    const contraction = first === OTHER ? contractionEnd(text, start) : 0;
    return contraction === 0 ? runEnd(text, start + 1, LETTER) : contraction;
  }
  if (second === BEYOND_ASCII) return 0;
  if (first === DIGIT) {
    if (second !== DIGIT) return start + 1;
    const third = kindAt(text, start + 2);
    if (third === BEYOND_ASCII) return 0;
    return third === DIGIT ? start + 3 : start + 2;
  }
  if (first === OTHER || (second === OTHER && text.charCodeAt(start) === 32)) {
    const end = runEnd(text, start + 1, OTHER);
    return end === 0 ? 0 : runEnd(text, end, NEWLINE);
  }
  return spaceEnd(text, start);
}

/** Where a run of one kind ends, be it empty; 0 where what follows it is beyond ASCII. */
function runEnd(text: string, start: number, kind: number): number {
  let at = start;
  let next = kindAt(text, at);
  while (next === kind) next = kindAt(text, ++at);
  return next === BEYOND_ASCII ? 0 : at;
}

function spaceEnd(text: string, start: number): number {
  let afterNewline = 0;
  let at = start;
  let next = kindAt(text, at);
  while (next === SPACE || next === NEWLINE) {
    at++;
    if (next === NEWLINE) afterNewline = at;
    next = kindAt(text, at);
  }
  if (next === BEYOND_ASCII) return 0;
  if (next === END) return at;
  if (afterNewline !== 0) return afterNewline;
  return at - start > 1 ? at - 1 : at;
}

/** Of `'s`, `'t`, `'m`, `'d`, `'ll`, `'ve` and `'re` in either case; 0 where none begins at `start`. */
function contractionEnd(text: string, start: number): number {
  if (text.charCodeAt(start) !== 39) return 0;
  // The bit that letters differ by in their cases is set: what is no letter does not become one of these.
  const first = text.charCodeAt(start + 1) | 32;
  if (first === 0x73 || first === 0x74 || first === 0x6d || first === 0x64) return start + 2;
  const second = text.charCodeAt(start + 2) | 32;
  const isLong = (first === 0x6c && second === 0x6c) || ((first === 0x76 || first === 0x72) && second === 0x65);
  return isLong ? start + 3 : 0;
}

import { CL100K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';

/**
 * Calls `visit` with the bounds of each pre-token that cl100k merges separately, in order, until it returns false. If
 * `from` is the end of a pre-token of the whole text, the bounds are those of the whole text. Tokens never span
 * pre-tokens, so the counts of pre-tokens add up.
 */
export function forEachPreToken(text: string, visit: (start: number, end: number) => boolean, from = 0): void {
  // Each call has a regular expression of its own, because lastIndex is state and visitors may count tokens too.
  const preTokens = new RegExp(CL100K_TOKEN_SPLIT_REGEX.source, 'uy');
  for (let start = from; start < text.length;) {
    let end = asciiPreTokenEnd(text, start);
    if (end === 0) {
      preTokens.lastIndex = start;
      if (!preTokens.test(text)) return;
      end = preTokens.lastIndex;
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

/** The class of each ASCII character in the expression; control characters count as punctuation. */
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
 * Returns the end of the pre-token that begins at `start`, without the regular expression, which is several times
 * slower. Returns 0 if the pre-token contains or touches a non-ASCII character: then the expression decides. It tries
 * these kinds of pre-token in order: the ending of a contraction; letters, after at most one character that is neither
 * a digit nor a line end; up to three digits; punctuation, after at most one space and with the following line ends;
 * white space. White space at the end of the text is one pre-token. Other white space ends at its last line end. If it
 * has none, all but its last character is a pre-token; a single character is one too.
 */
function asciiPreTokenEnd(text: string, start: number): number {
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

/** Returns the end of a run of one class, which may be empty; 0 if a non-ASCII character follows. */
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

/** Returns the end of `'s`, `'t`, `'m`, `'d`, `'ll`, `'ve` or `'re` in either case; 0 if none begins at `start`. */
function contractionEnd(text: string, start: number): number {
  if (text.charCodeAt(start) !== 39) return 0;
  // Setting bit 5 converts letters to lower case; no other character becomes one of these letters.
  const first = text.charCodeAt(start + 1) | 32;
  if (first === 0x73 || first === 0x74 || first === 0x6d || first === 0x64) return start + 2;
  const second = text.charCodeAt(start + 2) | 32;
  const isLong = (first === 0x6c && second === 0x6c) || ((first === 0x76 || first === 0x72) && second === 0x65);
  return isLong ? start + 3 : 0;
}

import type { Alphabet, Ideographs } from './languages.js';

/**
 * Scores how likely a decoded text is, as the sum of the natural logarithms of its characters' probabilities. ASCII
 * characters cost nothing, so the scores of all decodings of the same bytes can be compared.
 */

/** A character that the text's language does not have. */
const FOREIGN = -8;
/** A sequence that is invalid in the encoding. */
const INVALID = -14;
/** Symbols, box drawing and control characters. */
const SYMBOL = -9;
const PUNCTUATION = -4.5;
const IDEOGRAPHIC_PUNCTUATION = -4;
/** A symbol or a letter of another script within a word, or an upper-case letter after a lower-case one. */
const BROKEN_WORD = -4;
/** An ASCII byte inside a multi-byte character. An encoding that decodes it as an ASCII character does not pay this. */
const ASCII_BYTE = -3;

const COMMON_PUNCTUATION = new Set('\u00a0\u00ad«»–—‘’‚“”„…•·©®™€°§№،؛؟');
const OPENING_PUNCTUATION = new Set('¿¡');
/** Signs of measures and prices, which stand before or after numbers. */
const MEASURE_SIGNS = new Set('£¥½¼¾±µ×÷²³¹');
const SIGN = -5;
const FULL_WIDTH_PUNCTUATION = new Set('、。，．・：；？！「」『』（）〈〉《》【】〔〕“”‘’…—～〜\u3000·-／％');

/** A text as counts, so that several languages can be compared without reading it again. */
interface Profile {
  readonly counts: ReadonlyMap<string, number>;
  /** The part of the score that does not depend on the language. */
  readonly structure: number;
}

/** Scores a text in an alphabetic script, in the language that fits best. @param hint language of the page, or null */
export function scoreAlphabets(text: string, alphabets: readonly Alphabet[], hint: string | null): number {
  const { counts, structure } = profileOf(text);
  let best = -Infinity;
  for (const { language, letters } of alphabets) {
    const costs = costsOf(letters);
    let sum = language === hint ? HINT_GAIN : 0;
    for (const [letter, times] of counts) {
      const cost = costs.get(letter);
      sum += times * (cost ?? FOREIGN);
    }
    best = Math.max(best, sum);
  }
  return structure + best;
}

const HINT_GAIN = 3;

/** Counts the letters beyond ASCII, and scores everything else. */
function profileOf(text: string): Profile {
  const counts = new Map<string, number>();
  let structure = 0;
  let before: Kind = 'gap';
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) {
      const kind = kindOfAscii(unit);
      // In "naïveП", either the Latin or the Cyrillic letters are decoded wrongly.
      if (kind !== 'gap' && (before === 'symbol' || before === 'other' || before === 'mark')) structure += BROKEN_WORD;
      before = kind;
      continue;
    }
    const char = text[i] ?? '';
    if (char === '\ufffd') {
      structure += INVALID;
      before = 'gap';
    } else if (COMMON_PUNCTUATION.has(char)) {
      structure += PUNCTUATION;
      before = 'gap';
    } else if (OPENING_PUNCTUATION.has(char)) {
      structure += before === 'gap' ? PUNCTUATION : PUNCTUATION + BROKEN_WORD;
      before = 'gap';
    } else if (MEASURE_SIGNS.has(char)) {
      structure += before === 'gap' ? SIGN : SIGN + BROKEN_WORD;
      before = 'gap';
    } else {
      const kind = kindOfLetter(char);
      if (kind === 'symbol') structure += SYMBOL;
      else count(counts, lower(char));
      structure += stepCost(before, kind, char);
      before = kind;
    }
  }
  return { counts, structure };
}

/**
 * Kinds of characters: Latin letters by case, letters of other scripts by case, combining marks, symbols. A `gap` is
 * any character outside of words.
 */
type Kind = 'gap' | 'latin' | 'LATIN' | 'other' | 'OTHER' | 'mark' | 'symbol';

function kindOfAscii(unit: number): Kind {
  if (unit >= 0x61 && unit <= 0x7a) return 'latin';
  return unit >= 0x41 && unit <= 0x5a ? 'LATIN' : 'gap';
}

const kinds = new Map<string, Kind>();

function kindOfLetter(char: string): Kind {
  const cachedKind = kinds.get(char);
  if (cachedKind !== undefined) return cachedKind;
  const kind = newKind(char);
  // Limits the memory: a text in Chinese has thousands of characters.
  if (kinds.size < 2000) kinds.set(char, kind);
  return kind;
}

function newKind(char: string): Kind {
  // Combining signs of Thai, Hebrew and Arabic belong to the letter before.
  if (/\p{M}/u.test(char)) return 'mark';
  if (!/\p{L}/u.test(char)) return 'symbol';
  const isUpper = char !== char.toLowerCase();
  if (/\p{Script=Latin}/u.test(char)) return isUpper ? 'LATIN' : 'latin';
  return isUpper ? 'OTHER' : 'other';
}

function stepCost(before: Kind, kind: Kind, char: string): number {
  if (before === 'gap') {
    if (kind === 'mark') return BROKEN_WORD;
    return kind === 'LATIN' || kind === 'OTHER' ? CAPITAL : 0;
  }
  if (kind === 'symbol' || before === 'symbol') return BROKEN_WORD;
  const isLatin = kind === 'latin' || kind === 'LATIN';
  if (isLatin !== (before === 'latin' || before === 'LATIN')) return BROKEN_WORD;
  if (kind === 'LATIN' || kind === 'OTHER')
    return before === 'latin' || before === 'other' || before === 'mark' ? BROKEN_WORD : CAPITALS;
  // ß rarely follows a capital. Other lower-case letters are as rare after two capitals, but this function receives
  // only one letter of context.
  return char === 'ß' && before === 'LATIN' ? BROKEN_WORD : 0;
}

/** Costs of upper-case letters. CAPITAL: at the start of a word. CAPITALS: directly after another upper-case letter. */
const CAPITAL = -1.5;
const CAPITALS = -1;

const lower = (char: string): string => (char === 'İ' ? 'ı' : char.toLowerCase());

function count(counts: Map<string, number>, char: string): void {
  counts.set(char, (counts.get(char) ?? 0) + 1);
}

const costCache = new Map<string, ReadonlyMap<string, number>>();

/** Returns the logarithm of each letter's probability: it falls exponentially with the rank. */
function costsOf(letters: string): ReadonlyMap<string, number> {
  const cachedCost = costCache.get(letters);
  if (cachedCost) return cachedCost;
  const all = [...letters];
  const weights = all.map((_, rank) => Math.exp((-3.2 * rank) / all.length));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const costs = new Map(all.map((letter, rank) => [letter, Math.log((weights[rank] ?? 0) / total)]));
  costCache.set(letters, costs);
  return costs;
}

/**
 * Scores a text of Chinese, Japanese or Korean characters.
 * @param nonAsciiBytes number of bytes beyond ASCII in its encoded form
 */
export function scoreIdeographs(text: string, script: Ideographs, nonAsciiBytes: number, hint: string | null): number {
  const [first, last, used] = script.otherLetters;
  const frequent = Math.log(script.share / script.frequent.size);
  const other = Math.log((1 - script.share) / used);
  let [score, wide] = [script.language === hint ? HINT_GAIN : 0, 0];
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x80) continue;
    // Each character has two bytes, the half-width signs of Shift_JIS have one, and a few have four.
    wide += code >= 0xff61 && code <= 0xff9f ? 1 : 2;
    if (script.frequent.has(char)) score += frequent;
    else if (FULL_WIDTH_PUNCTUATION.has(char)) score += IDEOGRAPHIC_PUNCTUATION;
    else if (char === '\ufffd') score += INVALID;
    else if (code >= first && code <= last) score += other;
    else if (code >= 0xff01 && code <= 0xff5e) score += FOREIGN;
    else score += 1.5 * FOREIGN;
  }
  return score + Math.max(0, wide - nonAsciiBytes) * ASCII_BYTE;
}

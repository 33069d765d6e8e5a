import { foldText } from './foldText.js';

/** The words in one token of text without spaces. */
export interface Words {
  /** The words, folded but not stemmed, and also the joined form of a compound. */
  readonly terms: readonly string[];
  /** Single characters of scripts that are indexed as pairs: they match queries of one character. */
  readonly characters: readonly string[];
  /** Number of words, without the joined form. The encoder sums them to the length of the document. */
  readonly count: number;
}

/**
 * Matches letters, combining marks, digits, and invisible characters between them; also the punctuation inside names,
 * versions and compounds, and `++` or `#` at the end (C++, C#).
 */
const TOKEN =
  /[\p{L}\p{M}\p{N}\u00ad\u200b-\u200d\u2060\ufeff]+(?:[._\-'’][\p{L}\p{M}\p{N}\u00ad\u200b-\u200d\u2060\ufeff]+)*(?:\+\+|#(?![\p{L}\p{N}]))?/gu;
const SEPARATORS = /[._\-'’+#]+/;
const POSSESSIVE = /['’]s$/i;
/**
 * Matches the boundaries in "camelCase" and "HTTPServer", but none in "PDFs". Looks ahead first: a look back at each
 * combining mark would take quadratic time.
 */
const CAMEL_BOUNDARY = /(?=\p{Lu})(?:(?<=\p{Ll}\p{M}*)|(?<=\p{Lu}\p{M}*)(?=\p{Lu}\p{Ll}{2}))/u;
const ASCII_CAMEL_BOUNDARY = /(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})/;
const HAS_CAPITAL_INSIDE = /.\p{Lu}/u;
const VERSION_NUMBER = /^\p{N}+(?:\.\p{N}+)+$/u;
const LANGUAGE_NAME = /^(\p{L})(\+\+|#)$/u;

/**
 * Scripts that are indexed as pairs of characters: they have no spaces between words or, like Korean, add endings to
 * words.
 */
const PAIRED_SCRIPTS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/u;
const DICTIONARY_SCRIPTS = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/u;
const OTHER_SCRIPTS = new RegExp(`(${PAIRED_SCRIPTS.source}|${DICTIONARY_SCRIPTS.source})`, 'u');

/** Maximum length of a word; longer ones are data (keys, encoded images). */
const MAX_WORD_LENGTH = 128;
/** Maximum number of parts of a joined form. A longer URL or path is indexed by its parts only. */
const MAX_JOINED = 8;

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

const dictionary = new Intl.Segmenter('th', { granularity: 'word' });

/** Yields the tokens of a text, unchanged. */
export function* tokensOf(text: string): Generator<string> {
  for (const [token] of text.matchAll(TOKEN)) yield token;
}

/**
 * Returns the words of a token, which is a part of a text without spaces. It is a pure function, so a token has the
 * same words in documents and in queries.
 */
export function splitWords(token: string): Words {
  const wordText = token.replace(POSSESSIVE, '');
  const pieces = wordText
    .split(SEPARATORS)
    .flatMap(splitCamelCase)
    .map(foldText)
    .filter((piece) => piece !== '');
  const words = { terms: [] as string[], characters: [] as string[], count: 0 };
  for (const piece of pieces) {
    if (isAscii(piece)) addWord(piece, words);
    else for (const part of piece.split(OTHER_SCRIPTS)) addPart(part, words);
  }
  const joined = joinedForm(wordText, pieces);
  if (joined !== null) words.terms.push(joined);
  return words;
}

interface Collected {
  readonly terms: string[];
  readonly characters: string[];
  count: number;
}

function splitCamelCase(piece: string): string[] {
  if (!HAS_CAPITAL_INSIDE.test(piece)) return [piece];
  return piece.split(isAscii(piece) ? ASCII_CAMEL_BOUNDARY : CAMEL_BOUNDARY);
}

function addPart(part: string, words: Collected): void {
  if (part === '') return;
  if (PAIRED_SCRIPTS.test(part)) addPairs(part, words);
  else if (DICTIONARY_SCRIPTS.test(part)) addSegments(part, words);
  else addWord(part, words);
}

function addWord(word: string, words: Collected): void {
  words.count += 1;
  if (word.length <= MAX_WORD_LENGTH) words.terms.push(word);
}

/**
 * Returns the parts of `sqlite3_open_v2`, `openFile`, `open-file` or `UTF-8` as one word, and `1.18.0` and `C++`
 * unchanged; null for a single word, a long token, and scripts without spaces or with pairs.
 */
function joinedForm(written: string, pieces: readonly string[]): string | null {
  const folded = foldText(written);
  if (LANGUAGE_NAME.test(folded)) return folded;
  if (pieces.length < 2 || pieces.length > MAX_JOINED || folded.length > MAX_WORD_LENGTH) return null;
  if (!isAscii(folded) && OTHER_SCRIPTS.test(folded)) return null;
  return VERSION_NUMBER.test(folded) ? folded : pieces.join('');
}

/**
 * Adds each pair of neighbouring characters, like Lucene's CJKAnalyzer: words of these scripts are found wherever they
 * begin.
 */
function addPairs(text: string, words: Collected): void {
  const characters = [...text];
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  words.count += Math.max(1, pairs.length);
  if (pairs.length === 0) words.terms.push(text);
  else {
    // Spread arguments of `push` would exceed the stack for a text of 120,000 characters.
    for (const pair of pairs) words.terms.push(pair);
    for (const character of characters) words.characters.push(character);
  }
}

function addSegments(text: string, words: Collected): void {
  for (const { segment } of dictionary.segment(text)) {
    words.count += 1;
    words.terms.push(segment);
  }
}

import { isSpace, skipSpace } from './whitespace.js';

/** Sentence ends, both in scripts that put white space after them and in those that do not. */
const ENDERS = /[.!?…؟۔।॥։።。！？｡．]/gu;
const NEEDS_NO_SPACE = new Set(['。', '！', '？', '｡', '．']);
/**
 * Characters after a sentence end that still belong to the sentence: more marks, closing quotes and brackets, footnote
 * marks.
 */
const CLOSERS = '.!?…؟۔।॥։።。！？｡．"\'”’»›)]}」』）】》〉*_`';

/** Abbreviations with a dot in common languages; they do not end a sentence. Lower case, without the dot. */
const ABBREVIATIONS = new Set(
  (
    'mr mrs ms dr prof st sr jr vs e.g i.e cf fig figs eq no nos vol pp al approx est dept inc ltd co corp ' +
    'gen col sgt capt lt rev hon gov sen rep jan feb mar apr jun jul aug sep sept oct nov dec ' +
    'z.b d.h u.a bzw ca nr abb bspw evtl ggf inkl usw vgl tel str mme mlle art chap p.ex sra ud uds pág sig dott ing'
  ).split(' '),
);

/**
 * Returns the ends of sentences inside `text.slice(start, end)`, ascending, without `end` itself. Intl.Segmenter is not
 * used: it breaks after "Dr." and at every line end, and its results change with the ICU version.
 */
export function findSentences(text: string, start: number, end: number): number[] {
  // Search only this part: a search without a match would continue to the end of the whole text.
  const part = text.slice(start, end);
  const ends: number[] = [];
  const enders = new RegExp(ENDERS.source, 'gu');
  for (let match = enders.exec(part); match !== null; match = enders.exec(part)) {
    const mark = match.index;
    let after = mark + 1;
    while (after < part.length && CLOSERS.includes(part.charAt(after))) after++;
    enders.lastIndex = after;
    if (after >= part.length) break;
    const wide = NEEDS_NO_SPACE.has(match[0]);
    if (wide || (isSpace(part.charCodeAt(after)) && !continues(part, mark, after))) ends.push(start + after);
  }
  return ends;
}

/** Whether the sentence continues after the mark: an abbreviation, an initial, a list number, or lower case next. */
function continues(part: string, mark: number, after: number): boolean {
  const next = skipSpace(part, after);
  if (/^\p{Ll}/u.test(part.slice(next, next + 2))) return true;
  if (part.charAt(mark) !== '.' || after > mark + 1) return false;
  let wordStart = mark;
  while (wordStart > 0 && mark - wordStart < 24 && !isSpace(part.charCodeAt(wordStart - 1))) wordStart--;
  const word = part.slice(wordStart, mark).replace(/^[("'“‘[*_]+/u, '');
  if (/^\p{Lu}$/u.test(word) || /^(?:\p{L}\.)+\p{L}$/u.test(word)) return true;
  if (/^\d{1,3}$/.test(word)) return startsLine(part, wordStart);
  return ABBREVIATIONS.has(word.toLowerCase());
}

function startsLine(part: string, at: number): boolean {
  let i = at;
  while (i > 0 && (part.charAt(i - 1) === ' ' || part.charAt(i - 1) === '\t')) i--;
  return i === 0 || part.charAt(i - 1) === '\n';
}

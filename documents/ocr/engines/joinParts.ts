import type { OcrWord } from './engine.js';

/**
 * Joins the parts of words: in some scripts, such as Hangul, Tesseract reports most syllables as separate words.
 * In the text of the line, Tesseract puts spaces only between whole words, by the width of the gaps.
 */
export function joinParts(words: readonly OcrWord[], line: string): OcrWord[] {
  const joined: OcrWord[] = [];
  /** Index in `line` at which the last word ends; null if `line` does not contain that word. */
  let end: number | null = null;
  let searched = 0;
  for (const word of words) {
    if (word.text === '') continue;
    const start = line.indexOf(word.text, searched);
    const before = joined.at(-1);
    if (before !== undefined && start === end) joined[joined.length - 1] = joinTwo(before, word);
    else joined.push(word);
    end = start === -1 ? null : start + word.text.length;
    searched = end ?? searched;
  }
  return joined;
}

function joinTwo(a: OcrWord, b: OcrWord): OcrWord {
  const [length, more] = [a.text.length, b.text.length];
  return {
    text: a.text + b.text,
    confidence: (a.confidence * length + b.confidence * more) / (length + more),
    bbox: {
      x0: Math.min(a.bbox.x0, b.bbox.x0),
      y0: Math.min(a.bbox.y0, b.bbox.y0),
      x1: Math.max(a.bbox.x1, b.bbox.x1),
      y1: Math.max(a.bbox.y1, b.bbox.y1),
    },
  };
}

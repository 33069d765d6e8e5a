import { BREAK_LEVELS } from './findBreaks.js';
import type { Block } from './findBlocks.js';
import { firstAbove } from './sortedIndex.js';
import type { Splitting } from './splitting.js';
import { isSpace, skipSpace, trimEnd } from './whitespace.js';

/**
 * Where the chunk that begins at `start` ends. What lies before `from` it shares with the chunk before it; `block`
 * is the block that `from` lies in.
 */
export function findCut(splitting: Splitting, start: number, from: number, block: number): number {
  const { text, index, budget } = splitting;
  let end = trimEnd(text, start, chooseCut(splitting, start, from, block));
  // A cut inside a piece may cost a token more than the whole piece.
  while (end > start + 1 && index.count(start, end) > budget) {
    const shorter = trimEnd(text, start, (text.codePointAt(end - 2) ?? 0) > 0xffff ? end - 2 : end - 1);
    if (shorter <= start) break;
    end = shorter;
  }
  return end;
}

function chooseCut(splitting: Splitting, start: number, from: number, block: number): number {
  const { index, blocks, budget } = splitting;
  let next = block;
  let cut = -1;
  for (; next < blocks.length; next++) {
    if (next > block && blocks[next]?.hard === true) return cut;
    const end = blocks[next]?.end ?? 0;
    if (!index.fits(start, end, budget)) break;
    cut = end;
  }
  const torn = blocks[next];
  if (torn === undefined) return cut === -1 ? splitting.text.length : cut;
  const tornFrom = Math.max(from, torn.start);
  // A block that fits a chunk of its own waits for the next one; a larger one is begun where this one has room.
  if (cut !== -1 && (index.fits(tornFrom, torn.end, budget) || isFilled(splitting, start, cut))) return cut;
  return cutInBlock(splitting, torn, start, tornFrom, cut);
}

/** At least half of the chunk is used. */
function isFilled({ index, budget }: Splitting, start: number, end: number): boolean {
  return !index.fits(start, end, Math.floor(budget / 2));
}

/** The same choice level by level inside a block too large for any chunk. `fallback` is a cut before it, or -1. */
function cutInBlock(splitting: Splitting, block: Block, start: number, blockFrom: number, fallback: number): number {
  const { text, index, budget } = splitting;
  let from = blockFrom;
  let cut = fallback;
  for (const level of BREAK_LEVELS[block.kind]) {
    const breaks = splitting.breaks.of(block, level);
    let at = firstAbove(breaks, from);
    for (; at < breaks.length && index.fits(start, breaks[at] ?? 0, budget); at++) {
      cut = breaks[at] ?? 0;
      from = skipSpace(text, cut);
    }
    const unitEnd = breaks[at] ?? block.end;
    if (cut !== -1 && (index.fits(from, unitEnd, budget) || isFilled(splitting, start, cut))) return cut;
  }
  return cutInWords(splitting, start, from, cut);
}

function cutInWords(splitting: Splitting, start: number, from: number, fallback: number): number {
  const { text, index, budget } = splitting;
  const reach = index.reach(start, budget);
  const wordCut = trimEnd(text, start, wordBoundary(text, from, reach));
  const cut = wordCut > from ? wordCut : fallback;
  const wordStart = wordCut > from ? skipSpace(text, wordCut) : from;
  if (cut !== -1) {
    const wordFits = index.fits(wordStart, wordEnd(text, wordStart, budget), budget);
    if (wordFits || isFilled(splitting, start, cut)) return cut;
  }
  return Math.max(cut, cutInCharacters(splitting, start, from, reach));
}

/** The last offset up to `reach` where a word ends; `from` when there is none. */
function wordBoundary(text: string, from: number, reach: number): number {
  let end = reach;
  while (end > from && end < text.length && !isSpace(text.charCodeAt(end))) end--;
  return end;
}

/** Where the word ends, looked for no further than a chunk could hold of it. */
function wordEnd(text: string, start: number, budget: number): number {
  const limit = Math.min(text.length, start + 64 + budget * 16);
  let end = start;
  while (end < limit && !isSpace(text.charCodeAt(end))) end++;
  return end;
}

function cutInCharacters({ text, index, budget }: Splitting, start: number, from: number, reach: number): number {
  const end = beforeJoined(text, from, trimEnd(text, start, index.cutInside(start, reach, budget)));
  if (end < from + 24) return end;
  const word = lastWordStart(text, from, end);
  return word > (from + end) / 2 && index.count(start, word) <= budget ? word : end;
}

/** Moves a cut back over what belongs to the character in front: accents, joiners, skin tones; not as far as `from`. */
function beforeJoined(text: string, from: number, end: number): number {
  let back = end;
  for (let steps = 0; steps < 16 && back > from && JOINS_BEFORE.test(text.slice(back, back + 2)); steps++) back--;
  return back > from && !JOINS_BEFORE.test(text.slice(back, back + 2)) ? back : end;
}

const JOINS_BEFORE = /^(?:\p{M}|\u200d|\p{Emoji_Modifier}|[\udc00-\udfff])/u;
const WORDS = new Intl.Segmenter('und', { granularity: 'word' });

/** Where the word cut at `end` begins, in scripts without spaces (Thai, Chinese); 0 when no place is found near. */
function lastWordStart(text: string, from: number, end: number): number {
  const windowStart = Math.max(from, end - 64);
  let found = 0;
  for (const { index } of WORDS.segment(text.slice(windowStart, Math.min(text.length, end + 32)))) {
    if (windowStart + index > end) break;
    if (index > 0) found = windowStart + index;
  }
  return found;
}

import { BREAK_LEVELS } from './findBreaks.js';
import type { Block } from './findBlocks.js';
import { firstAbove } from './sortedIndex.js';
import type { Splitting } from './splitting.js';
import { isSpace, skipSpace, trimEnd } from './whitespace.js';

/**
 * Returns the end of the chunk that begins at `start`. The text before `from` is the overlap with the previous chunk;
 * `block` is the index of the block that contains `from`.
 */
export function findCut(splitting: Splitting, start: number, from: number, block: number): number {
  const { text, index, budget } = splitting;
  let end = trimEnd(text, start, chooseCut(splitting, start, from, block));
  // A cut inside a pre-token may need one token more than the whole pre-token.
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
  const cutBlock = blocks[next];
  if (cutBlock === undefined) return cut === -1 ? splitting.text.length : cut;
  const cutBlockFrom = Math.max(from, cutBlock.start);
  // A block that fits a whole chunk moves to the next chunk; a larger block begins in this chunk if there is room.
  if (cut !== -1 && (index.fits(cutBlockFrom, cutBlock.end, budget) || isFilled(splitting, start, cut))) return cut;
  return cutInBlock(splitting, cutBlock, start, cutBlockFrom, cut);
}

/** Whether at least half of the chunk is used. */
function isFilled({ index, budget }: Splitting, start: number, end: number): boolean {
  return !index.fits(start, end, Math.floor(budget / 2));
}

/**
 * Chooses a cut level by level inside a block that is too large for any chunk. `fallback` is a cut before it, or -1.
 */
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

/** Returns the last end of a word up to `reach`; `from` if there is none. */
function wordBoundary(text: string, from: number, reach: number): number {
  let end = reach;
  while (end > from && end < text.length && !isSpace(text.charCodeAt(end))) end--;
  return end;
}

/** Returns the end of the word, searched no further than a chunk could contain. */
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

/**
 * Returns a cut that does not separate a character from the accents, zero-width joiner, skin tone or second surrogate
 * that follow it: if the cut is before one of these, it moves back to before the character. Returns `end` unchanged if
 * there is no such place after `from`, or not within 16 UTF-16 units.
 */
function beforeJoined(text: string, from: number, end: number): number {
  let back = end;
  for (let steps = 0; steps < 16 && back > from && JOINS_BEFORE.test(text.slice(back, back + 2)); steps++) back--;
  return back > from && !JOINS_BEFORE.test(text.slice(back, back + 2)) ? back : end;
}

const JOINS_BEFORE = /^(?:\p{M}|\u200d|\p{Emoji_Modifier}|[\udc00-\udfff])/u;
const WORDS = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * Returns the start of the word that is cut at `end`, in scripts without spaces (Thai, Chinese); 0 if none is found
 * nearby.
 */
function lastWordStart(text: string, from: number, end: number): number {
  const windowStart = Math.max(from, end - 64);
  let found = 0;
  for (const { index } of WORDS.segment(text.slice(windowStart, Math.min(text.length, end + 32)))) {
    if (windowStart + index > end) break;
    if (index > 0) found = windowStart + index;
  }
  return found;
}

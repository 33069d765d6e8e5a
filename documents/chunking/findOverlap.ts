import type { Chunk } from '../types.js';
import { BREAK_LEVELS, findBreaks } from './findBreaks.js';
import type { Block } from './findBlocks.js';
import { firstAbove } from './sortedIndex.js';
import type { Splitting } from './splitting.js';
import { isSpace, skipSpace } from './whitespace.js';

/**
 * Returns the start of the next chunk, which repeats the end of the previous one. The overlap consists of whole
 * sentences (lines, rows) if they fit, else of words. If nothing fits, the result is `from`, the start of the new text.
 */
export function findOverlap(splitting: Splitting, previous: Chunk, from: number, block: number): number {
  const { text, index, blocks } = splitting;
  if (splitting.overlap === 0 || isHard(blocks[block], from)) return from;
  const limit = Math.min(splitting.overlap, roomBefore(splitting, from, block));
  if (limit <= 0) return from;
  const earliest = Math.max(previous.start + 1, index.reachBack(previous.end, limit));
  const fits = (start: number): boolean => start > previous.start && index.count(start, previous.end) <= limit;

  let last = block;
  while (last > 0 && (blocks[last]?.start ?? 0) >= previous.end) last--;
  let first = last;
  while (first > 0 && (blocks[first]?.start ?? 0) > earliest) first--;
  for (const start of unitStarts(text, blocks.slice(first, last + 1), earliest, previous.end))
    if (fits(start)) return start;

  const kind = blocks[last]?.kind;
  // Do not repeat a part of a row or of a line of code: it has no meaning.
  if (kind !== 'prose' && kind !== 'list') return from;
  for (const start of wordStarts(text, Math.max(earliest, blocks[last]?.start ?? 0), previous.end))
    if (fits(start)) return start;
  return from;
}

const isHard = (block: Block | undefined, from: number): boolean => block?.hard === true && from <= block.start;

/** Returns the tokens that the overlap may take without splitting the next unit. */
function roomBefore(splitting: Splitting, from: number, block: number): number {
  const { text, index, breaks, budget } = splitting;
  const next = splitting.blocks[block];
  if (next === undefined) return 0;
  // The boundary between overlap and new text may take up to two more tokens.
  const roomFor = (end: number): number => budget - index.count(from, end) - 2;
  if (from <= next.bodyStart && index.fits(from, next.end, budget)) return roomFor(next.end);
  for (const level of BREAK_LEVELS[next.kind]) {
    const found = breaks.of(next, level);
    const after = firstAbove(found, from);
    const unitStart = after === 0 ? next.bodyStart : skipSpace(text, found[after - 1] ?? 0);
    const unitEnd = found[after] ?? next.end;
    // A unit that begins before `from` is already split, so its rest need not stay whole.
    if (from <= unitStart && index.fits(from, unitEnd, budget)) return roomFor(unitEnd);
  }
  return Math.floor(budget / 2);
}

/** Yields the starts of blocks and of their units between `earliest` and `end`, ascending. */
function* unitStarts(text: string, blocks: readonly Block[], earliest: number, end: number): Generator<number> {
  for (const block of blocks) {
    if (block.start >= earliest) yield block.start;
    if (block.kind === 'row') continue;
    const level = block.kind === 'code' || block.kind === 'rows' ? 'line' : BREAK_LEVELS[block.kind][0];
    if (level === undefined) continue;
    // Start a little earlier, so that a unit that begins at `earliest` is found.
    const windowStart = Math.max(block.bodyStart, earliest - 200);
    for (const unitEnd of findBreaks(text, block, level, windowStart, Math.min(block.end, end))) {
      const start = skipSpace(text, unitEnd, end);
      if (start >= earliest && start < end) yield start;
    }
  }
}

/** Yields the starts of words; in text without spaces, a few positions one character apart. */
function* wordStarts(text: string, earliest: number, end: number): Generator<number> {
  let words = 0;
  for (let at = earliest; at < end; at++) {
    if (isSpace(text.charCodeAt(at)) || (at > 0 && !isSpace(text.charCodeAt(at - 1)))) continue;
    words++;
    yield at;
  }
  if (words > 0) return;
  for (let at = earliest, tries = 0; at < end && tries < 16; at++, tries++) {
    if ((text.codePointAt(at - 1) ?? 0) <= 0xffff) yield at;
  }
}

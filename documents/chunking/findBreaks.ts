import { LIST_MARK, type Block, type BlockKind } from './findBlocks.js';
import { findSentences } from './findSentences.js';
import { skipSpace, trimEnd } from './whitespace.js';

export type BreakLevel = 'gap' | 'item' | 'line' | 'sentence' | 'cell';

/**
 * The levels at which a block that is too large for a chunk is cut, in order of preference. Words follow, then
 * characters.
 */
export const BREAK_LEVELS: Readonly<Record<BlockKind, readonly BreakLevel[]>> = {
  prose: ['sentence', 'line'],
  list: ['item', 'sentence', 'line'],
  table: ['line', 'sentence'],
  code: ['gap', 'line'],
  row: ['line', 'cell', 'sentence'],
  rows: ['cell', 'sentence'],
};

/**
 * Returns the ends of the units of one level inside a part of a block's body, ascending, without the end of the part.
 */
export function findBreaks(
  text: string,
  block: Block,
  level: BreakLevel,
  start = block.bodyStart,
  end = block.end,
): number[] {
  const from = Math.max(start, block.bodyStart);
  if (level === 'sentence') return findSentences(text, from, end);
  if (level === 'cell') return findCells(text, from, end);
  const ends: number[] = [];
  // End of the last line with text. A backward search for it from each of many empty lines would take quadratic time.
  let contentEnd = from;
  let lineStart = from;
  for (
    let newline = text.indexOf('\n', from);
    newline !== -1 && newline < end;
    newline = text.indexOf('\n', lineStart)
  ) {
    const lineTextEnd = trimEnd(text, lineStart, newline);
    if (lineTextEnd > lineStart) contentEnd = lineTextEnd;
    lineStart = newline + 1;
    if (contentEnd > (ends.at(-1) ?? from) && opensUnit(text, level, lineStart, end)) ends.push(contentEnd);
  }
  return ends;
}

/** Returns the ends of lines and of cells written as `header: value, header: value`. */
function findCells(text: string, from: number, end: number): number[] {
  const ends: number[] = [];
  // The search is bounded: a header is short and contains neither commas nor colons.
  const mark = /\n|, (?=[^,:\n]{1,100}: )/g;
  mark.lastIndex = from;
  for (let found = mark.exec(text); found !== null && found.index < end; found = mark.exec(text)) {
    const cellEnd = found[0] === '\n' ? found.index : found.index + 1;
    if (cellEnd > (ends.at(-1) ?? from) && cellEnd < end) ends.push(cellEnd);
  }
  return ends;
}

/** Whether the line at `at` begins a new unit. */
function opensUnit(text: string, level: BreakLevel, at: number, end: number): boolean {
  if (level === 'gap')
    return text.charAt(at) === '\n' || skipSpace(text, at, lineEnd(text, at, end)) === lineEnd(text, at, end);
  if (level === 'item') return LIST_MARK.test(text.slice(at, at + 400));
  return true;
}

function lineEnd(text: string, at: number, end: number): number {
  const newline = text.indexOf('\n', at);
  return newline === -1 || newline > end ? end : newline;
}

/** All breaks of a block's levels, computed once for all chunks. */
export class BlockBreaks {
  readonly #text: string;
  readonly #found = new WeakMap<Block, Map<BreakLevel, readonly number[]>>();

  constructor(text: string) {
    this.#text = text;
  }

  of(block: Block, level: BreakLevel): readonly number[] {
    const levels = this.#found.get(block) ?? new Map<BreakLevel, readonly number[]>();
    const breaks = levels.get(level) ?? findBreaks(this.#text, block, level);
    this.#found.set(block, levels.set(level, breaks));
    return breaks;
  }
}

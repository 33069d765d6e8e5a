import { skipSpace, trimEnd } from './whitespace.js';

/** `row`: an item of a table or JSON file; `rows`: several items that may be cut between any two cells. */
export type BlockKind = 'prose' | 'list' | 'table' | 'code' | 'row' | 'rows';

/** A part of the text that stays whole if it fits a chunk: a paragraph, list, table or fence, with its headings. */
export interface Block {
  readonly kind: BlockKind;
  /** Start, including its headings. */
  readonly start: number;
  /** Start without its headings. */
  readonly bodyStart: number;
  readonly end: number;
  /** Whether a chunk must begin here: earlier text does not share a chunk with the block, not even as overlap. */
  readonly hard?: boolean;
}

interface Part {
  readonly kind: BlockKind | 'heading';
  readonly level: number;
  readonly start: number;
  readonly end: number;
}

const FENCE = /^[ \t>]*(`{3,}(?=[^`]*$)|~{3,})/;
const FENCE_END = /^[ \t>]*(`{3,}|~{3,})[ \t]*$/;
const TABLE_ROW = /^[ \t>]*\|/;
const HEADING = /^(#{1,6})[ \t]/;
const UNDERLINE = /^[ \t]*(?:=+|-{2,})[ \t]*$/;
export const LIST_MARK = /^[ \t>]*(?:[-*+•]|\d{1,4}[.)])[ \t]/;

/** Returns the blocks of a Markdown-like text in order. Together they contain everything except white space. */
export function findBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let headings: Part[] = [];
  const flush = (): void => {
    for (const heading of headings)
      blocks.push({ kind: 'prose', start: heading.start, bodyStart: heading.start, end: heading.end });
    headings = [];
  };
  for (const part of readParts(text)) {
    if (part.kind === 'heading') {
      // A heading belongs to the text that follows. If a heading of the same or a higher rank follows directly, it has
      // no text.
      const last = headings.at(-1);
      if (last !== undefined && part.level <= last.level) flush();
      headings.push(part);
    } else {
      blocks.push({ kind: part.kind, start: headings[0]?.start ?? part.start, bodyStart: part.start, end: part.end });
      headings = [];
    }
  }
  flush();
  return blocks;
}

function* readParts(text: string): Generator<Part> {
  let openKind: BlockKind | null = null;
  let openStart = 0;
  let openEnd = 0;
  let openLines = 0;
  for (let at = 0; at < text.length;) {
    const lineEnd = endOfLine(text, at);
    // Block marks are at the start of a line, so the rest of a long line is not examined.
    const line = text.slice(at, Math.min(lineEnd, at + 400));
    const kind = skipSpace(text, at, lineEnd) === lineEnd ? 'blank' : kindOfLine(line);
    const ends =
      kind === 'blank' || kind === 'code' || kind === 'heading' || (kind === 'table') !== (openKind === 'table');
    if (openKind !== null && ends) {
      yield trimmed(text, openKind, openStart, openEnd);
      openKind = null;
    }
    let next = lineEnd + 1;
    if (kind === 'code') {
      const end = fenceEnd(text, lineEnd, line);
      yield trimmed(text, 'code', at, end);
      next = end + 1;
    } else if (kind === 'heading') {
      yield trimmed(text, 'heading', at, lineEnd, HEADING.exec(line)?.[1]?.length ?? 1);
    } else if (openKind === 'prose' && openLines === 1 && UNDERLINE.test(line)) {
      yield trimmed(text, 'heading', openStart, lineEnd, line.includes('=') ? 1 : 2);
      openKind = null;
    } else if (kind !== 'blank') {
      if (openKind === null) {
        openKind = kind;
        openStart = at;
        openLines = 0;
      }
      openEnd = lineEnd;
      openLines++;
    }
    at = next;
  }
  if (openKind !== null) yield trimmed(text, openKind, openStart, openEnd);
}

function kindOfLine(line: string): BlockKind | 'heading' {
  if (FENCE.test(line)) return 'code';
  if (HEADING.test(line)) return 'heading';
  if (TABLE_ROW.test(line)) return 'table';
  return LIST_MARK.test(line) ? 'list' : 'prose';
}

function trimmed(text: string, kind: Part['kind'], start: number, end: number, level = 0): Part {
  const first = skipSpace(text, start, end);
  return { kind, level, start: first, end: trimEnd(text, first, end) };
}

/** Returns the end of the line that closes the fence opened by `line`; the end of the text if it is not closed. */
function fenceEnd(text: string, lineEnd: number, line: string): number {
  const mark = FENCE.exec(line)?.[1] ?? '```';
  for (let at = lineEnd + 1; at < text.length;) {
    const end = endOfLine(text, at);
    const closing = FENCE_END.exec(text.slice(at, Math.min(end, at + 400)))?.[1];
    if (closing?.startsWith(mark) === true) return end;
    at = end + 1;
  }
  return text.length;
}

function endOfLine(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline === -1 ? text.length : newline;
}

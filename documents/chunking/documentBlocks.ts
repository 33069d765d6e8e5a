import type { ChunkOptions, Items, ParsedDocument } from '../types.js';
import { type Block, findBlocks } from './findBlocks.js';
import { skipSpace, trimEnd } from './whitespace.js';

/** The formats for which the API lets callers group items; XLSM is not one of them. */
const GROUPABLE_FORMATS: ReadonlySet<ParsedDocument['format']> = new Set(['CSV', 'TSV', 'XLSX', 'JSON'] as const);

/**
 * Returns the blocks of a document: of its items if it has any, else of its text. If no chunk may span pages, each page
 * has its own blocks. Each post of a thread also has its own, so that a chunk has one author. Each table is separate.
 */
export function documentBlocks(
  document: Pick<ParsedDocument, 'text' | 'pages' | 'items' | 'tables' | 'sections' | 'format'>,
  options: ChunkOptions,
): Block[] {
  const { text, pages, items, tables = [], sections, format } = document;
  if (items !== undefined && items.length > 0) {
    // The objects of a JSON file are not rows: each object stays whole if it fits a chunk.
    const splitRows = options.splitRows === true && format !== 'JSON';
    const perChunk = GROUPABLE_FORMATS.has(format) ? (options.maxItemsPerChunk ?? null) : null;
    return itemBlocks(text, items, perChunk, splitRows);
  }
  const whole = [{ start: 0, end: text.length }];
  const parts =
    sections === undefined
      ? options.setPageAsBoundary === true && pages !== undefined
        ? pages
        : whole
      : partsBetween(sections, text.length);
  if (parts === whole && tables.length === 0) return findBlocks(text);
  return parts.flatMap((part) => partBlocks(text, part, tables));
}

/** A range of the text (UTF-16 offsets, end exclusive) that shares no chunk with its neighbours. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/** Returns the ranges between borders. */
const partsBetween = (borders: readonly number[], length: number): Part[] =>
  [0, ...borders].map((start, nth) => ({ start, end: borders[nth] ?? length })).filter(({ start, end }) => end > start);

/**
 * Returns the blocks of a part of the text. The first block, the first of each table and the first after a table each
 * begin a new chunk.
 */
function partBlocks(text: string, { start, end }: Part, tables: readonly Items[]): Block[] {
  const blocks: Block[] = [];
  let from = start;
  for (const rows of tables) {
    const [tableStart = 0, tableEnd = 0] = [rows[0], rows.at(-1)];
    if (tableStart < from || tableEnd > end) continue;
    blocks.push(...textBlocks(text, from, tableStart), ...rowBlocks(rows));
    from = tableEnd;
  }
  return [...blocks, ...textBlocks(text, from, end)];
}

const textBlocks = (text: string, from: number, to: number): Block[] =>
  findBlocks(text.slice(from, to)).map(({ kind, start, bodyStart, end }, nth) => ({
    kind,
    start: start + from,
    bodyStart: bodyStart + from,
    end: end + from,
    hard: nth === 0,
  }));

const rowBlocks = (rows: Items): Block[] =>
  Array.from({ length: rows.length / 2 }, (_, nth) => {
    const [start = 0, end = 0] = rows.slice(2 * nth, 2 * nth + 2);
    return { kind: 'row', start, bodyStart: start, end, hard: nth === 0 };
  });

function itemBlocks(text: string, items: Items, perChunk: number | null, splitRows: boolean): Block[] {
  const blocks: Block[] = [];
  let inGroup = 0;
  let previousEnd = 0;
  for (let at = 0; at < items.length; at += 2) {
    const bodyStart = items[at] ?? 0;
    const end = items[at + 1] ?? text.length;
    // Text between two items is the heading of the following items.
    const lead = skipSpace(text, previousEnd, bodyStart);
    const isLed = lead < bodyStart;
    const start = isLed ? lead : bodyStart;
    const isFull = perChunk !== null && inGroup >= perChunk;
    // Text before an item, such as the name of a sheet, begins a chunk only if the number of items per chunk is limited.
    const hard = at > 0 && (isFull || (isLed && perChunk !== null));
    inGroup = hard || at === 0 ? 1 : inGroup + 1;
    const last = blocks.at(-1);
    if (splitRows && last !== undefined && !hard && !isLed) blocks[blocks.length - 1] = { ...last, end };
    else blocks.push({ kind: splitRows ? 'rows' : 'row', start, bodyStart, end, hard });
    previousEnd = end;
  }
  const rest = skipSpace(text, previousEnd, text.length);
  if (rest < text.length)
    blocks.push({ kind: 'prose', start: rest, bodyStart: rest, end: trimEnd(text, rest, text.length) });
  return blocks;
}

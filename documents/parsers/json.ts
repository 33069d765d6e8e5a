import { Fault } from '../../contract/failures.js';
import { mimeTypeOf } from '../../contract/files/fileFormats.js';
import { decodeText } from '../decodeText.js';
import { CellBudget } from '../tables/tableWriter.js';
import { TextBuilder, tidyLines } from '../textBuilder.js';
import type { Parser } from '../types.js';

/**
 * Writes each item as lines of `dotted.path: value`, with an empty line between items. The items are the members of the
 * outermost list, the lines of JSON lines, or the only value.
 */
export const jsonParser: Parser = {
  parse(input, limits) {
    const { values, lines } = readValues(decodeText(input, { html: false }).trim());
    const writer = new TextBuilder(limits.maxTextCharacters);
    const cells = new CellBudget(limits.maxCells);
    const items: number[] = [];
    for (const value of values) {
      const before = writer.length;
      let start = -1;
      for (const line of flatten(value, cells, limits.maxDepth)) {
        writer.break(start === -1);
        if (start === -1) start = writer.length;
        writer.add(line);
      }
      if (writer.length > before) items.push(start, writer.length);
    }
    if (items.length === 0) throw new Fault('no_text', 'There are no values in the file: it is empty.');
    return {
      text: writer.toString(),
      format: 'JSON',
      mimeType: lines ? 'application/x-ndjson' : mimeTypeOf('JSON'),
      metadata: { items: items.length / 2 },
      items,
    };
  },
};

/**
 * Matches the quotes around strings, escaped quotes and backslashes, and numbers with too many digits for a JavaScript
 * number. It does not match whole strings: the stack of a regular expression is too small for one of ten million
 * characters.
 */
const QUOTES_AND_LONG_NUMBERS = /\\["\\]|"|-?\d[\d.]{15,}(?:[eE][+-]?\d+)?/g;

/** Parses JSON; numbers with too many digits become strings, because they would lose digits. */
function parse(text: string): unknown {
  if (!/\d[\d.]{15}/.test(text)) return JSON.parse(text);
  let inString = false;
  const kept = text.replace(QUOTES_AND_LONG_NUMBERS, (token) => {
    if (token === '"') inString = !inString;
    return inString || /^["\\]/.test(token) ? token : `"${token}"`;
  });
  return JSON.parse(kept);
}

function readValues(text: string): { values: readonly unknown[]; lines: boolean } {
  if (text === '') return { values: [], lines: false };
  let cause: unknown;
  try {
    const value = parse(text);
    return { values: Array.isArray(value) ? value : [value], lines: false };
  } catch (error) {
    cause = error;
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  try {
    if (lines.length > 1) return { values: lines.map(parse), lines: true };
  } catch (error) {
    cause = error;
  }
  const where = cause instanceof Error ? cause.message.replace(/"[\s\S]*"/, '…').slice(0, 120) : '';
  throw new Fault(
    'broken_content',
    `The file is not valid JSON, neither as a whole nor line by line (${where}). Correct it and send it again.`,
    { cause },
  );
}

/** Formats a value that is not an object. */
const plain = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/**
 * Yields the values of an object with their paths, in order. Uses a stack, because JSON may nest deeper than the call
 * stack.
 */
function* flatten(root: unknown, cells: CellBudget, maxDepth: number): Generator<string> {
  interface Step {
    readonly path: string;
    readonly value: unknown;
    readonly depth: number;
  }
  const stack: Step[] = [{ path: '', value: root, depth: 0 }];
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    const { path, value, depth } = step;
    cells.take(1);
    if (value === null) continue;
    if (typeof value !== 'object') {
      const text = tidyLines(plain(value));
      if (text !== '') yield path === '' ? text : `${path}: ${text}`;
      continue;
    }
    if (depth >= maxDepth) {
      throw new Fault(
        'too_large',
        `The file has values nested more than ${maxDepth} deep (setting MAX_ELEMENT_DEPTH). Simplify it, or raise the setting.`,
      );
    }
    if (Array.isArray(value) && value.length > 0 && value.every((element) => typeof element !== 'object')) {
      // A list of plain values reads better in one line.
      cells.take(value.length);
      const list = value.map((element) => tidyLines(plain(element))).join(', ');
      yield path === '' ? list : `${path}: ${list}`;
      continue;
    }
    const members = Object.entries(value);
    for (let at = members.length - 1; at >= 0; at--) {
      const [key, member] = members[at] ?? ['', null];
      stack.push({ path: path === '' ? key : `${path}.${key}`, value: member, depth: depth + 1 });
    }
  }
}

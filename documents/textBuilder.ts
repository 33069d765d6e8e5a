import { removeInvisible, tooLong } from './html/render/textWriter.js';

const PARTS_OF_BLOCK = 4096;

/** Builds a text and tracks its length; throws a Fault too_large beyond the limit. */
export class TextBuilder {
  readonly #limit: number;
  #parts: string[] = [];
  readonly #blocks: string[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The offset of the next text that add() appends. */
  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    this.#length += text.length;
    if (this.#length > this.#limit) throw tooLong(this.#limit);
    // Join periodically: a million small strings take several times the memory of their text.
    if (this.#parts.push(text) === PARTS_OF_BLOCK) {
      this.#blocks.push(this.#parts.join(''));
      this.#parts = [];
    }
  }

  /** Begins a new line, or with `gap` a new block, unless the text is empty. */
  break(gap: boolean): void {
    if (this.#length > 0) this.add(gap ? '\n\n' : '\n');
  }

  /** Adds a paragraph, heading or table as a separate block. */
  block(text: string): void {
    if (text === '') return;
    this.break(true);
    this.add(text);
  }

  toString(): string {
    return this.#blocks.join('') + this.#parts.join('');
  }
}

/**
 * Line breaks of every kind. They are replaced before invisible characters are removed, because some are control
 * characters. Form values of PDFs contain lone carriage returns.
 */
const BREAKS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

/** Converts a text to one line without invisible characters, with single spaces. */
export const oneLine = (text: string): string =>
  removeInvisible(text.replace(BREAKS, '\n')).replace(/\s+/g, ' ').trim();

/** Trims the ends of lines and removes invisible characters; at most one empty line in a row. */
export const tidyLines = (text: string): string =>
  removeInvisible(text.replace(BREAKS, '\n'))
    .split('\n')
    .map((line) => line.replace(/[^\S\n]+/g, ' ').trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** Formats rows as `| a | b |` lines, the first as the header; '' for a table without text. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const lines: string[] = [];
  for (const row of rows) {
    const cells = row.map((cell) => oneLine(cell).replaceAll('|', '\\|'));
    if (cells.every((cell) => cell === '')) continue;
    lines.push(`| ${cells.join(' | ')} |`);
    if (lines.length === 1) lines.push(`|${' --- |'.repeat(cells.length)}`);
  }
  return lines.join('\n');
}

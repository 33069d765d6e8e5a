import { removeInvisible, tooLong } from './html/textWriter.js';

const PARTS_OF_BLOCK = 4096;

/** Puts a text together line by line, and knows where it is; throws a Fault too_large past the limit. */
export class TextBuilder {
  readonly #limit: number;
  #parts: string[] = [];
  readonly #blocks: string[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The offset at which the next text will stand, when it is added by add(). */
  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    this.#length += text.length;
    if (this.#length > this.#limit) throw tooLong(this.#limit);
    // Joined now and then: a million small strings take several times the memory of what they hold.
    if (this.#parts.push(text) === PARTS_OF_BLOCK) {
      this.#blocks.push(this.#parts.join(''));
      this.#parts = [];
    }
  }

  /** Begins a new line, or with `gap` a new block, unless nothing stands before. */
  break(gap: boolean): void {
    if (this.#length > 0) this.add(gap ? '\n\n' : '\n');
  }

  /** A paragraph, heading or table of its own. */
  block(text: string): void {
    if (text === '') return;
    this.break(true);
    this.add(text);
  }

  toString(): string {
    return this.#blocks.join('') + this.#parts.join('');
  }
}

/** A text in one line: nothing invisible, white space as single spaces. */
export const oneLine = (text: string): string => removeInvisible(text).replace(/\s+/g, ' ').trim();

/** Lines without white space at their ends and nothing invisible; at most one empty line in a row. */
export const tidyLines = (text: string): string =>
  removeInvisible(text)
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .split('\n')
    .map((line) => line.replace(/[^\S\n]+/g, ' ').trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** Rows as `| a | b |` lines, the first as the header; '' for a table without a word. */
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

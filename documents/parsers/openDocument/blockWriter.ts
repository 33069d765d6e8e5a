import { listMark } from '../../office/formatNumber.js';
import { oneLine, type TextBuilder } from '../../textBuilder.js';
import type { ContentHandler, Paragraph } from './readContent.js';

/** Deepest indentation of a list item. */
const MAX_INDENT_LEVEL = 8;

/** Formats a paragraph of a list: with its mark, or indented as a further paragraph of its item. */
export function itemText({ text, item }: Paragraph): string {
  const indent = '  '.repeat(Math.min(MAX_INDENT_LEVEL, item?.level ?? 0));
  const number = item?.number ?? null;
  const mark = number === null ? ' ' : listMark(number);
  return `${indent}${mark} ${text.replaceAll('\n', `\n${indent}  `)}`;
}

/** Writes paragraphs, headings, lists and tables as Markdown-like text. */
export class BlockWriter implements ContentHandler {
  readonly #writer: TextBuilder;
  #lastWasItem = false;

  constructor(writer: TextBuilder) {
    this.#writer = writer;
  }

  paragraph(paragraph: Paragraph): void {
    const { text, heading, item } = paragraph;
    if (item !== null) {
      this.#writer.break(!this.#lastWasItem);
      this.#writer.add(itemText(paragraph));
    } else this.#writer.block(heading === null ? text : `${'#'.repeat(heading)} ${oneLine(text)}`);
    this.#lastWasItem = item !== null;
  }

  block(markdown: string): void {
    this.#writer.block(markdown);
    if (markdown !== '') this.#lastWasItem = false;
  }
}

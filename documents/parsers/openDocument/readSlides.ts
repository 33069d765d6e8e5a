import { Fault } from '../../../contract/failures.js';
import { oneLine, TextBuilder } from '../../textBuilder.js';
import { itemText } from './blockWriter.js';
import { type ContentHandler, type ContentParts, ContentReader, type Paragraph } from './readContent.js';
import { SHAPES } from './elements.js';

/** Placeholders that a layout repeats on every slide. */
const REPEATED_PLACEHOLDERS: ReadonlySet<string> = new Set([
  'header',
  'footer',
  'date-time',
  'page-number',
  'page',
  'handout',
]);

/** A block of a slide, and the kind of its placeholder; null for a text box. */
interface Shape {
  readonly kind: string | null;
  readonly lines: string[];
}

interface OpenSlide {
  readonly blocks: string[];
  readonly notes: string[];
  title: string[];
}

/** Reads the slides of a presentation: the title as a heading, points, tables, charts, notes and comments. */
export class SlideReader implements ContentHandler {
  readonly #writer: TextBuilder;
  readonly #reader: ContentReader;
  readonly #maxPages: number;
  #slide: OpenSlide | null = null;
  #shapes: Shape[] = [];
  #inNotes = false;
  #count = 0;

  constructor(parts: ContentParts) {
    this.#writer = new TextBuilder(parts.limits.maxTextCharacters);
    this.#reader = new ContentReader(parts, this);
    this.#maxPages = parts.limits.maxPages;
  }

  /** @throws Fault too_large for too many slides */
  read(part: Uint8Array): void {
    this.#reader.read(part);
  }

  get text(): string {
    return this.#writer.toString();
  }

  get count(): number {
    return this.#count;
  }

  get formFields(): number {
    return this.#reader.formFields;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'page') {
      this.#count += 1;
      if (this.#count > this.#maxPages)
        throw new Fault(
          'too_large',
          `The presentation has more slides than the limit (setting MAX_DOCUMENT_PAGES: ${this.#maxPages}). Split it, or raise the setting.`,
        );
      this.#slide = { blocks: [], notes: [], title: [] };
    } else if (name === 'notes') this.#inNotes = true;
    else if (SHAPES.has(name)) this.#shapes.push({ kind: attributes['class'] ?? null, lines: [] });
  }

  paragraph(paragraph: Paragraph): void {
    const shape = this.#shapes.at(-1);
    if (!shape) return;
    const { text, item } = paragraph;
    // Separate the line: otherwise it would continue the last list item.
    if (item === null && /^ *(?:-|\d+[.)]) /.test(shape.lines.at(-1) ?? '')) shape.lines.push('');
    shape.lines.push(item === null ? oneLine(text) : itemText({ ...paragraph, text: oneLine(text) }));
  }

  block(markdown: string): void {
    if (markdown !== '') this.#slide?.blocks.push(markdown);
  }

  close(name: string): void {
    if (SHAPES.has(name)) this.#endShape(this.#shapes.pop());
    else if (name === 'notes') this.#inNotes = false;
    else if (name === 'page') this.#endSlide();
  }

  #endShape(shape: Shape | undefined): void {
    const slide = this.#slide;
    if (!shape || !slide || shape.lines.length === 0 || REPEATED_PLACEHOLDERS.has(shape.kind ?? '')) return;
    if (this.#inNotes) slide.notes.push(...shape.lines.map((line) => line.replace(/^ *- /, '')));
    else if (shape.kind === 'title') slide.title.push(oneLine(shape.lines.join(' ')));
    else slide.blocks.push(shape.lines.join('\n'));
  }

  #endSlide(): void {
    const { title, blocks, notes } = this.#slide ?? { title: [], blocks: [], notes: [] };
    this.#slide = null;
    const comments = this.#reader.takeComments();
    if (title.length + blocks.length + notes.length + comments.length === 0) return;
    this.#writer.block(`# ${title.length > 0 ? title.join(' ') : `Slide ${this.#count}`}`);
    for (const block of blocks) this.#writer.block(block);
    if (notes.length > 0) this.#writer.block(`Notes: ${notes.join('\n')}`);
    for (const comment of comments) this.#writer.block(comment);
  }
}

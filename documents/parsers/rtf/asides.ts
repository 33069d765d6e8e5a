import { isEdgeText } from '../../office/pageEdges.js';
import { oneLine } from '../../textBuilder.js';

export type AsideKind = 'note' | 'Comment' | 'Header' | 'Footer';

/** The control words of groups whose text does not belong to the surrounding paragraphs. */
export const ASIDES: ReadonlyMap<string, AsideKind> = new Map([
  ['footnote', 'note'],
  ['annotation', 'Comment'],
  ...['header', 'headerl', 'headerr', 'headerf'].map((word) => [word, 'Header'] as const),
  ...['footer', 'footerl', 'footerr', 'footerf'].map((word) => [word, 'Footer'] as const),
]);

/** Collects the notes, comments, headers and footers of a document, which follow its text. */
export class Asides {
  readonly #notes: string[] = [];
  readonly #comments: string[] = [];
  /** Sections, and left and right pages, repeat their headers. */
  readonly #edges = new Set<string>();
  /** The different lines of the open header or footer. A set, so that many lines of a hostile file take linear time. */
  #lines = new Set<string>();
  /** The name that precedes a comment. */
  author = '';
  /** Whether the line that is read has the number of a page. */
  isNumbered = false;

  /** Ends a line of a header or footer. Omits a line that has no letters, or only a few next to a page number. */
  endLine(text: string): void {
    const line = oneLine(text);
    if (isEdgeText(line, this.isNumbered)) this.#lines.add(line);
    this.isNumbered = false;
  }

  /** Ends a group. Returns the mark that stays in the text: that of a note, or ''. */
  end(kind: AsideKind, text: string): string {
    const words = oneLine(text);
    if (kind === 'note') {
      if (words !== '') this.#notes.push(words);
      return words === '' ? '' : `[^${this.#notes.length}]`;
    }
    if (kind === 'Comment') {
      if (words !== '') this.#comments.push(`Comment${this.author === '' ? '' : ` by ${this.author}`}: ${words}`);
      this.author = '';
    } else {
      this.endLine(words);
      if (this.#lines.size > 0) this.#edges.add(`${kind}: ${[...this.#lines].join(' | ')}`);
      this.#lines = new Set();
    }
    return '';
  }

  blocks(): string[] {
    return [...this.#notes.map((note, nth) => `[^${nth + 1}]: ${note}`), ...this.#comments, ...this.#edges];
  }
}

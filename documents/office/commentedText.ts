import { oneLine } from '../textBuilder.js';

/** Longest quotation of commented text, in characters. */
const MAX_QUOTE_LENGTH = 200;

/** Maximum number of comments whose text is collected at one time: Word allows ranges to overlap. */
const MAX_OPEN = 100;

/** Collects the text to which each comment refers. */
export class CommentedText {
  readonly #quotes = new Map<string, string>();
  readonly #open = new Set<string>();

  begin(id: string): void {
    if (this.#open.size < MAX_OPEN) this.#open.add(id);
  }

  end(id: string): void {
    this.#open.delete(id);
  }

  add(text: string): void {
    for (const id of this.#open) {
      const quote = this.#quotes.get(id) ?? '';
      if (quote.trimEnd().length <= MAX_QUOTE_LENGTH)
        this.#quotes.set(id, `${quote}${text}`.replaceAll(/\s+/g, ' ').trimStart());
    }
  }

  /**
   * Returns the start of the commented text; '' if the comment is anchored at a point, or if the end of its range is
   * missing.
   */
  quoteOf(id: string): string {
    if (this.#open.has(id)) return '';
    const quote = oneLine(this.#quotes.get(id) ?? '');
    return quote.length > MAX_QUOTE_LENGTH ? `${quote.slice(0, MAX_QUOTE_LENGTH)}…` : quote;
  }
}

/** Formats a comment as `Comment by Anna on "text": …`, without the parts that are unknown. */
export function commentText(author: string, quote: string, words: string): string {
  const by = oneLine(author);
  return `Comment${by === '' ? '' : ` by ${by}`}${quote === '' ? '' : ` on "${quote}"`}: ${oneLine(words)}`;
}

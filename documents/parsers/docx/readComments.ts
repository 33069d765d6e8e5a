import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

/** Longest quotation of commented text, in characters. */
const LONGEST_QUOTE = 200;

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
      if (quote.length <= LONGEST_QUOTE) this.#quotes.set(id, quote + text);
    }
  }

  /** Returns the start of the commented text; '' if the comment refers to a place. */
  quoteOf(id: string): string {
    const quote = oneLine(this.#quotes.get(id) ?? '');
    return quote.length > LONGEST_QUOTE ? `${quote.slice(0, LONGEST_QUOTE)}…` : quote;
  }
}

/** Returns the comments of a document as `Comment by Anna on "text": …`, in the order of the file. */
export function readComments(part: Uint8Array, commented: CommentedText, limits: DocumentLimits): string[] {
  const comments: string[] = [];
  let [id, author, words, inText] = ['', '', '', false];
  readXml(part, limits, {
    open(name, attributes) {
      if (name === 'comment') [id, author, words] = [attributes['id'] ?? '', attributes['author'] ?? '', ''];
      else if (name === 't') inText = true;
      else if (name === 'p' || name === 'br' || name === 'tab') words += ' ';
    },
    text(text) {
      if (inText) words += text;
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'comment' && oneLine(words) !== '') {
        const by = oneLine(author);
        const quote = commented.quoteOf(id);
        comments.push(
          `Comment${by === '' ? '' : ` by ${by}`}${quote === '' ? '' : ` on "${quote}"`}: ${oneLine(words)}`,
        );
      }
    },
  });
  return comments;
}

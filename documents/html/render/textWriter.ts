import { Fault } from '../../../contract/failures.js';

/** Maximum nesting of indenting containers: deeper indentation would only make lines longer. */
const DEEPEST_PREFIX = 8;
/**
 * A text with fewer characters between two posts of a page (such as comments of a thread) is a heading or a label of the
 * next post.
 */
const SHORT_REST = 200;

/**
 * Writes text line by line. Delays spaces and line ends until text follows, so that none are doubled or left at the
 * ends.
 */
export class TextWriter {
  readonly #limit: number;
  #out = '';
  #newlines = 0;
  #space = false;
  #lineStart = true;
  readonly #prefixes: string[] = [];
  /** Start of the next line instead of a prefix: the mark of a list item. */
  #marker: string | null = null;
  /** Number of prefixes up to the one that the marker replaces. */
  #markerDepth = 0;
  #section: 'post' | 'rest' | null = null;
  #sectionsEndWith: 'post' | 'rest' = 'rest';
  readonly #sections: number[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get text(): string {
    return this.#out;
  }

  /** Offsets of the lines that begin a section, ascending. */
  get sections(): readonly number[] {
    return this.#sections;
  }

  /** The last characters of the current line; none if a space or a line end is pending. */
  get lineTail(): string {
    return this.#space || this.#newlines > 0 || this.#lineStart ? '' : this.#out.slice(-2);
  }

  /** Writes text in the line; folds white space to single spaces. */
  inline(data: string): void {
    const text = tidy(data);
    if (text === '') return;
    if (text === ' ') {
      this.space();
      return;
    }
    const from = text.startsWith(' ') ? 1 : 0;
    const to = text.endsWith(' ') ? text.length - 1 : text.length;
    if (from === 1) this.space();
    this.#write(text.slice(from, to));
    if (to < text.length) this.space();
  }

  /**
   * Makes the next line the first of a section: a post, or the rest after one. A short rest, such as a heading, is joined
   * to the post that follows it.
   */
  section(kind: 'post' | 'rest'): void {
    this.newline(2);
    this.#section = kind;
  }

  /** Adds a space if more text follows in this line. */
  space(): void {
    this.#space = true;
  }

  /** Adds at least this many line ends before the next text; none at the start or after a list mark. */
  newline(count: 1 | 2): void {
    if (this.#out !== '' && this.#marker === null) this.#newlines = Math.max(this.#newlines, count);
  }

  /** Adds one line end before the next text, even if more were requested. */
  tightNewline(): void {
    if (this.#out !== '' && this.#marker === null) this.#newlines = 1;
  }

  /** Adds a `<br>`: two in a row make an empty line. */
  lineBreak(): void {
    if (this.#out !== '' && this.#marker === null) this.#newlines = Math.min(2, this.#newlines + 1);
  }

  /** Writes lines unchanged, including white space. */
  lines(lines: readonly string[]): void {
    lines.forEach((line, i) => {
      if (i > 0) {
        this.#append('\n');
        this.#lineStart = true;
      }
      if (i === 0 || line !== '') this.#write(line);
    });
  }

  /** Sets the prefix of the following lines until it is closed; `marker` replaces it in the first line. */
  open(prefix: string, marker: string | null = null): void {
    this.#prefixes.push(prefix);
    if (marker === null) return;
    this.#marker = marker;
    this.#markerDepth = this.#prefixes.length;
  }

  close(): void {
    this.#prefixes.pop();
    this.#marker = null;
  }

  #write(text: string): void {
    if (this.#newlines > 0 || this.#marker !== null) {
      if (this.#newlines > 0) this.#append('\n'.repeat(this.#newlines));
      this.#lineStart = true;
    }
    if (this.#lineStart) {
      if (this.#section !== null) this.#startSection(this.#section);
      const prefixes = this.#prefixes.slice(0, DEEPEST_PREFIX);
      if (this.#marker !== null) prefixes[Math.min(this.#markerDepth, DEEPEST_PREFIX) - 1] = this.#marker;
      this.#append(prefixes.join(''));
    } else if (this.#space) {
      this.#append(' ');
    }
    this.#append(text);
    this.#newlines = 0;
    this.#space = false;
    this.#lineStart = false;
    this.#marker = null;
  }

  #startSection(kind: 'post' | 'rest'): void {
    const start = this.#sections.at(-1) ?? 0;
    const isJoined = kind === 'post' && this.#sectionsEndWith === 'rest' && this.#out.length - start < SHORT_REST;
    if (!isJoined) this.#sections.push(this.#out.length);
    this.#sectionsEndWith = kind;
    this.#section = null;
  }

  #append(text: string): void {
    this.#out += text;
    if (this.#out.length > this.#limit) throw tooLong(this.#limit);
  }
}

/** The Fault for a text above the limit of characters. */
export function tooLong(limit: number): Fault {
  return new Fault(
    'too_large',
    `The document has more than ${limit.toLocaleString('en-US')} characters of text, which is the limit (setting MAX_TEXT_CHARACTERS). Split it, or raise the setting.`,
  );
}

const INVISIBLE = /[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]/g;
const CONTROL = /[^\P{Cc}\t\n]/gu;
/** Zero-width joiners without a neighbour; the pattern matches only from the first of a run. */
const LOOSE_JOINERS = /(?<![^\s])[\u200c\u200d]+|(?<![\u200c\u200d])[\u200c\u200d]+(?![^\s])/g;

/** Removes invisible characters. Joiners inside words and emoji stay. */
export function removeInvisible(text: string): string {
  if (/^[\x20-\x7e\t\n]*$/.test(text)) return text;
  return text.replace(CONTROL, '').replace(INVISIBLE, '').replace(LOOSE_JOINERS, '');
}

/** White space except single spaces, which are the most frequent and need no replacement. */
const FOLDABLE = /[^\S ]\s*| \s+/g;

/** Folds white space, including no-break spaces, to single spaces. */
function tidy(data: string): string {
  if (isPlain(data)) return data;
  const folded = data.replace(FOLDABLE, ' ');
  const visible = removeInvisible(folded);
  // An invisible character may have separated two spaces.
  return visible === folded ? folded : visible.replace(/ {2,}/g, ' ');
}

/** Whether a text is printable ASCII with single spaces, as most are: it needs no change. */
function isPlain(data: string): boolean {
  let before = 0;
  for (let i = 0; i < data.length; i++) {
    const unit = data.charCodeAt(i);
    if (unit < 0x20 || unit > 0x7e || (unit === 0x20 && before === 0x20)) return false;
    before = unit;
  }
  return true;
}

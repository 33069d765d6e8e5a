import { Fault } from '../../contract/failures.js';

/** Containers inside one another that still indent: deeper ones only make lines longer. */
const DEEPEST_PREFIX = 8;

/**
 * Puts text together line by line: owes spaces and line ends until something follows them, so that none are doubled
 * and none are left over at the ends.
 */
export class TextWriter {
  readonly #limit: number;
  #out = '';
  #newlines = 0;
  #space = false;
  #lineStart = true;
  readonly #prefixes: string[] = [];
  /** What the next line begins with in place of the innermost prefix: the mark of a list item. */
  #marker: string | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get text(): string {
    return this.#out;
  }

  /** The last characters of the line being written; none when a space or a line end is owed. */
  get lineTail(): string {
    return this.#space || this.#newlines > 0 || this.#lineStart ? '' : this.#out.slice(-2);
  }

  /** Text in the line; white space in it is folded to single spaces. */
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

  /** A space, should more text follow in this line. */
  space(): void {
    this.#space = true;
  }

  /** At least so many line ends before what follows; none where nothing was written or a list mark waits. */
  newline(count: 1 | 2): void {
    if (this.#out !== '' && this.#marker === null) this.#newlines = Math.max(this.#newlines, count);
  }

  /** One line end before what follows, even where more were asked for. */
  tightNewline(): void {
    if (this.#out !== '' && this.#marker === null) this.#newlines = 1;
  }

  /** `<br>`: a second one in a row makes an empty line. */
  lineBreak(): void {
    if (this.#out !== '' && this.#marker === null) this.#newlines = Math.min(2, this.#newlines + 1);
  }

  /** Lines as they are, white space kept. */
  lines(lines: readonly string[]): void {
    lines.forEach((line, i) => {
      if (i > 0) {
        this.#append('\n');
        this.#lineStart = true;
      }
      if (i === 0 || line !== '') this.#write(line);
    });
  }

  /** What every further line begins with until closed; `marker` stands in its place on the first. */
  open(prefix: string, marker: string | null = null): void {
    this.#prefixes.push(prefix);
    if (marker !== null) this.#marker = marker;
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
      const prefixes = this.#prefixes.slice(0, DEEPEST_PREFIX);
      if (this.#marker !== null) prefixes[Math.min(this.#prefixes.length, DEEPEST_PREFIX) - 1] = this.#marker;
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

  #append(text: string): void {
    this.#out += text;
    if (this.#out.length > this.#limit) throw tooLong(this.#limit);
  }
}

export function tooLong(limit: number): Fault {
  return new Fault(
    'too_large',
    `The document has more than ${limit.toLocaleString('en-US')} characters of text, the most that is read (setting MAX_TEXT_CHARACTERS). Split it, or raise the setting.`,
  );
}

const INVISIBLE = /[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]/g;
const CONTROL = /[^\P{Cc}\t\n]/gu;
/** Joiners that join nothing; looked for from the first of a run only. */
const LOOSE_JOINERS = /(?<![^\s])[\u200c\u200d]+|(?<![\u200c\u200d])[\u200c\u200d]+(?![^\s])/g;

/** Without characters nobody sees. Joiners inside words and emoji stay. */
export function removeInvisible(text: string): string {
  if (/^[\x20-\x7e\t\n]*$/.test(text)) return text;
  return text.replace(CONTROL, '').replace(INVISIBLE, '').replace(LOOSE_JOINERS, '');
}

/** Runs of white space, single spaces left out: most white space is one, and replacing it by itself costs as much. */
const FOLDABLE = /[^\S ]\s*| \s+/g;

/** White space folded to single spaces, the no-break space too. */
function tidy(data: string): string {
  const folded = data.replace(FOLDABLE, ' ');
  const visible = removeInvisible(folded);
  // What was invisible may have stood between two spaces.
  return visible === folded ? folded : visible.replace(/ {2,}/g, ' ');
}

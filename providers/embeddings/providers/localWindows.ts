/** As trained, the model reads 256 positions; [CLS] and [SEP] take two of them. */
export const WINDOW_PIECES = 254;

/**
 * Characters that are tokenized in one step: a window of most texts. The tokenizer takes up to 10 ms for 1,000 characters
 * (words of 99), and nothing else is tokenized in its process meanwhile.
 */
export const SLICE_CHARACTERS = 2_000;

/**
 * Characters before which a text can be cut without changing its word pieces: white space and punctuation. Not among them are
 * brackets, which may belong to a special token ("[SEP]"), and what Unicode ignores where it decides on the lower case
 * of a Greek sigma (' . : ^ `).
 */
const BREAKS = new Set(' \t\r\n!"#$%&()*+,-/;<=>?@\\_{|}~');

/** Returns where the slice of a text ends that begins at `from`. Without a place to cut it is longer than SLICE_CHARACTERS. */
export function sliceEnd(text: string, from: number): number {
  const most = from + SLICE_CHARACTERS;
  if (text.length <= most) return text.length;
  for (let end = most; end > from; end -= 1) if (isBreak(text, end)) return end;
  for (let end = most + 1; end < text.length; end += 1) if (isBreak(text, end)) return end;
  return text.length;
}

/** What the next window of a text is made of. */
export interface TextPart {
  /** Word pieces of the text that are in no window yet. */
  readonly carry: readonly number[];
  /** What follows them: the next slice of the text; '' where the pieces fill a window. */
  readonly slice: string;
  /** Nothing follows the slice. */
  readonly isLast: boolean;
  /** The text has no window yet: it gets one even if it has no word pieces. */
  readonly isFirst: boolean;
}

/**
 * Cuts the next window off a part of a text.
 * @param tokenize the word pieces of a slice
 * @returns the window, null while the pieces do not fill one and more are to come; and the pieces that are left over
 */
export function fillWindow(
  { carry, slice, isLast, isFirst }: TextPart,
  tokenize: (slice: string) => number[],
): { readonly window: readonly number[] | null; readonly carry: readonly number[] } {
  const pieces = slice === '' ? carry : [...carry, ...tokenize(slice)];
  const isWhole = pieces.length >= WINDOW_PIECES || (isLast && (pieces.length > 0 || isFirst));
  if (!isWhole) return { window: null, carry: pieces };
  return { window: pieces.slice(0, WINDOW_PIECES), carry: pieces.slice(WINDOW_PIECES) };
}

const isBreak = (text: string, at: number): boolean => BREAKS.has(text[at] ?? '');

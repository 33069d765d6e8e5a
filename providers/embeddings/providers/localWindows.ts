/** The model's configuration (max_seq_length) limits an input to 256 positions; [CLS] and [SEP] use two of them. */
export const WINDOW_PIECES = 254;

/**
 * Characters that are tokenized in one step. In most texts, they fill at least one window. The tokenizer blocks its
 * process for up to 10 ms per 1,000 characters; words of 99 characters take longest.
 */
export const SLICE_CHARACTERS = 2_000;

/**
 * Characters before which a text can be cut without changing its word pieces: white space and punctuation. Brackets are
 * excluded, because they may belong to a special token ("[SEP]"), and so are the characters that Unicode ignores when
 * it chooses the lower case of a Greek sigma (' . : ^ `).
 */
const BREAKS = new Set(' \t\r\n!"#$%&()*+,-/;<=>?@\\_{|}~');

/**
 * Returns the end of the slice that begins at `from`. Without a place to cut, the slice is longer than
 * SLICE_CHARACTERS.
 */
export function sliceEnd(text: string, from: number): number {
  const maxEnd = from + SLICE_CHARACTERS;
  if (text.length <= maxEnd) return text.length;
  for (let end = maxEnd; end > from; end -= 1) if (isBreak(text, end)) return end;
  for (let end = maxEnd + 1; end < text.length; end += 1) if (isBreak(text, end)) return end;
  return text.length;
}

/** The input for the next window of a text. */
export interface TextPart {
  /** Word pieces of the text that are not in a window yet. */
  readonly carry: readonly number[];
  /** The next slice of the text after `carry`; '' if the pieces fill a window. */
  readonly slice: string;
  /** Whether the slice ends the text. */
  readonly isLast: boolean;
  /** Whether the text has no window yet. The first window is emitted even without word pieces. */
  readonly isFirst: boolean;
}

/**
 * Cuts the next window off a part of a text.
 * @param tokenize returns the word pieces of a slice
 * @returns the window, null while the pieces do not fill one and more will follow; and the remaining pieces
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

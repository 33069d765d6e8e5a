import type { InputLimits } from './types.js';

export interface TextWindow {
  readonly text: string;
  readonly tokens: number;
}

/** Characters that are counted together: windows end between two such pieces. */
const PIECE_CHARACTERS = 200;

/**
 * Cuts a text into windows that fit a model's limits; a text that fits stays whole. Cuts are made between words where
 * possible. The token counts of the pieces of a window add up to at least the count of the whole window. A window is
 * therefore too long only if it is a single piece that cannot be cut.
 * @param count returns the number of tokens of a text
 */
export function cutWindows(text: string, limits: InputLimits, count: Count): TextWindow[] {
  const bytes = Buffer.byteLength(text);
  const tokens = count(text);
  if (bytes <= limits.bytes && tokens <= limits.tokens) return [{ text, tokens }];
  const windows: TextWindow[] = [];
  let current = { text: '', tokens: 0, bytes: 0 };
  const size = Math.min(PIECE_CHARACTERS, Math.floor(limits.bytes / 4), limits.tokens * 2);
  for (const piece of pieces(text, size, limits.tokens, count)) {
    const added = { tokens: piece.tokens, bytes: Buffer.byteLength(piece.text) };
    const isFull = current.tokens + added.tokens > limits.tokens || current.bytes + added.bytes > limits.bytes;
    if (isFull && current.text !== '') {
      windows.push({ text: current.text, tokens: current.tokens });
      current = { text: '', tokens: 0, bytes: 0 };
    }
    current = {
      text: current.text + piece.text,
      tokens: current.tokens + added.tokens,
      bytes: current.bytes + added.bytes,
    };
  }
  if (current.text !== '') windows.push({ text: current.text, tokens: current.tokens });
  // Windows of white space have no meaning, and providers reject them.
  return windows.filter((window) => window.text.trim() !== '');
}

/** Halves a window that a provider rejects as too long; null when it cannot be cut further. */
export function halve({ text, tokens }: TextWindow): [TextWindow, TextWindow] | null {
  const at = wordEnd(text, Math.ceil(text.length / 2), Math.ceil(text.length / 4));
  const [first, second] = [text.slice(0, at), text.slice(at)];
  if (first.trim() === '' || second.trim() === '') return null;
  const half = Math.max(1, Math.ceil(tokens / 2));
  return [
    { text: first, tokens: half },
    { text: second, tokens: half },
  ];
}

type Count = (text: string) => number;

/** Cuts a text into pieces of about `size` characters, and halves those with too many tokens, as in Chinese or Thai. */
function* pieces(text: string, size: number, maxTokens: number, count: Count): Generator<TextWindow> {
  for (let start = 0; start < text.length;) {
    const end = wordEnd(text, Math.min(text.length, start + size), start + 1);
    const piece = text.slice(start, end);
    const tokens = count(piece);
    const half = Math.ceil(piece.length / 2);
    if (tokens <= maxTokens || wordEnd(piece, half, 1) === piece.length) yield { text: piece, tokens };
    else yield* pieces(piece, half, maxTokens, count);
    start = end;
  }
}

/**
 * Returns the last end of a word at or before `at`, and not before `least`; else `at`, but never inside a character.
 */
function wordEnd(text: string, at: number, least: number): number {
  if (at >= text.length) return text.length;
  for (let end = at; end >= least; end--) if (/\s/.test(text[end] ?? '')) return end;
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

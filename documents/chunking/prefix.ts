import { countTokens } from './countTokens.js';

/** The separator ends in a line break, so that no token spans the prefix and the chunk, and their counts add up. */
const SEPARATOR = '\n\n';

export interface Prefix {
  readonly text: string;
  readonly tokens: number;
}

/** Returns the prefix of each chunk: the given text, truncated to half of the chunk. */
export function fitPrefix(prefix: string | null, chunkSize: number): Prefix {
  const none = { text: '', tokens: 0 };
  const trimmedPrefix = prefix?.trim() ?? '';
  if (trimmedPrefix === '') return none;
  const limit = Math.floor(chunkSize / 2);
  // A token holds at most 128 characters, so the rest of a huge prefix need not be counted.
  const longest = Math.min(trimmedPrefix.length, 128 * limit);
  const measure = (length: number): Prefix => {
    // Do not end in the middle of a surrogate pair.
    const text =
      trimmedPrefix
        .slice(0, length)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd() + SEPARATOR;
    return { text, tokens: countTokens(text) };
  };
  const whole = measure(longest);
  if (trimmedPrefix.length === longest && whole.tokens <= limit) return whole;
  let low = 0;
  let high = longest;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(middle).tokens <= limit) low = middle;
    else high = middle - 1;
  }
  const shortened = measure(low);
  return shortened.text !== SEPARATOR && shortened.tokens <= limit ? shortened : none;
}

import { countTokens } from './countTokens.js';

/** Ends in a line break, so that no token reaches from the prefix into the chunk and their counts add up. */
const SEPARATOR = '\n\n';

export interface Prefix {
  readonly text: string;
  readonly tokens: number;
}

/** What is put before each chunk: the given text, shortened where it would take more than half of the chunk. */
export function fitPrefix(prefix: string | null, chunkSize: number): Prefix {
  const none = { text: '', tokens: 0 };
  const wanted = prefix?.trim() ?? '';
  if (wanted === '') return none;
  const limit = Math.floor(chunkSize / 2);
  // A token holds at most 128 characters, so that the rest of a huge prefix need not be counted.
  const longest = Math.min(wanted.length, 128 * limit);
  const measure = (length: number): Prefix => {
    // Half of a surrogate pair is no character.
    const text =
      wanted
        .slice(0, length)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd() + SEPARATOR;
    return { text, tokens: countTokens(text) };
  };
  const whole = measure(longest);
  if (wanted.length === longest && whole.tokens <= limit) return whole;
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

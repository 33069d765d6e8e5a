/** A sequence of letters and digits: the unit of redaction. */
export const WORD = /[\p{L}\p{M}\p{N}]+/u;

/** Decodes an address; returns a text with an invalid escape unchanged. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the words of a text with at least `minLength` characters, in lower case. */
export const wordsIn = (text: string, minLength: number): string[] =>
  (text.toLowerCase().match(new RegExp(WORD.source, 'gu')) ?? []).filter((word) => word.length >= minLength);

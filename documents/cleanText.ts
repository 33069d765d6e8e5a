import type { DocumentLimits } from './types.js';
import { removeInvisible, tooLong } from './html/textWriter.js';

/** Text that came as text: line ends as `\n`, no-break spaces as spaces, nothing invisible, at most two empty lines. */
export function cleanText(raw: string, limits: DocumentLimits): string {
  const text = removeInvisible(raw.replace(/\r\n?|\f|\u0085|\u2028|\u2029/g, '\n').replaceAll('\u00a0', ' '))
    // From the first blank of a run only, else a long run inside a line takes the square of its length.
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{4,}/g, '\n\n\n')
    .replace(/^\n+/, '')
    .trimEnd();
  if (text.length > limits.maxTextCharacters) throw tooLong(limits.maxTextCharacters);
  return text.trim() === '' ? '' : text;
}

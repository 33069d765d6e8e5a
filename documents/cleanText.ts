import type { DocumentLimits } from './types.js';
import { removeInvisible, tooLong } from './html/render/textWriter.js';

/**
 * Normalises plain text: line ends to `\n`, no-break spaces to spaces, no invisible characters, at most two empty
 * lines.
 */
export function cleanText(raw: string, limits: DocumentLimits): string {
  const text = removeInvisible(raw.replace(/\r\n?|\f|\u0085|\u2028|\u2029/g, '\n').replaceAll('\u00a0', ' '))
    // Match only from the first blank of a run: otherwise a long run inside a line takes quadratic time.
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{4,}/g, '\n\n\n')
    .replace(/^\n+/, '')
    .trimEnd();
  if (text.length > limits.maxTextCharacters) throw tooLong(limits.maxTextCharacters);
  return text.trim() === '' ? '' : text;
}

import { isAscii, isUtf8 } from 'node:buffer';
import { bufferOf, decodeBytes, encodingOf } from './encoding/decodeBytes.js';
import { detectEncoding, isIso2022Jp } from './encoding/detectEncoding.js';
import { declaredLanguage, prescanMeta } from './encoding/prescanMeta.js';
import { utf16Without } from './encoding/utf16.js';
import type { ParseInput } from './types.js';

/**
 * A text with at least this many valid UTF-8 sequences of several bytes is UTF-8: in another encoding, so many do not
 * occur by chance.
 */
const CERTAIN_SEQUENCES = 6;

/**
 * Decodes bytes. Like browsers, looks for a byte order mark, for the charset of the Content-Type, and for the page's
 * own meta element (`html` only). Unlike them, compares a declaration with the bytes, because some servers declare the
 * same charset for all files:
 * - UTF-16 and ISO-2022-JP are recognised by their byte sequences.
 * - Other valid UTF-8 is UTF-8, whatever is declared. Only if an encoding with several bytes per character is declared,
 *   the text must have CERTAIN_SEQUENCES sequences.
 * - Damaged UTF-8 is UTF-8 if it is declared so and at most half of its sequences are invalid, or if nothing is
 *   declared and at most a fifth are.
 * - Otherwise the letters of the decoded text show the encoding; a declared encoding has preference.
 */
export function decodeText(input: Pick<ParseInput, 'bytes' | 'contentType'>, { html }: { html: boolean }): string {
  const { bytes } = input;
  const utf16 = utf16Encoding(input);
  if (utf16 !== null) return new TextDecoder(utf16).decode(bytes);
  // ASCII is the same in nearly all encodings, and latin1 is by far the fastest to decode.
  if (isAscii(bytes))
    return isIso2022Jp(bytes) ? decodeBytes(bytes, 'iso-2022-jp') : bufferOf(bytes).toString('latin1');
  const isValid = isUtf8(bytes);
  const text = isValid ? new TextDecoder('utf-8').decode(bytes) : '';
  if (isValid && holdsSequences(text, bytes.length)) return text;
  const declared = declaredEncoding(input, html);
  if (isValid && (declared === null || !SEVERAL_BYTES.test(declared))) return text;
  if (declared === 'utf-8' ? isMostlyUtf8(bytes) : declared === null && isDamagedUtf8(bytes))
    return new TextDecoder('utf-8').decode(bytes, { stream: declared === null });
  const language = html ? declaredLanguage(bytes) : null;
  const other = declared === 'utf-8' ? null : declared;
  return decodeBytes(bytes, detectEncoding(bytes, { isPage: html, declared: other, language }));
}

/** Encodings with several bytes per character, whose text may by chance be valid UTF-8. */
const SEVERAL_BYTES = /^(?:gb|big5|euc|shift)/;

/**
 * Returns UTF-16LE or UTF-16BE if the byte order mark, the bytes themselves or the header show it; null for other
 * encodings.
 */
export function utf16Encoding({ bytes, contentType }: Pick<ParseInput, 'bytes' | 'contentType'>): string | null {
  const mark = byteOrderMark(bytes);
  if (mark !== null) return mark === 'utf-8' ? null : mark;
  const found = utf16Without(bytes);
  const declared = encodingOf(charsetOf(contentType) ?? '');
  if (found !== null || declared?.startsWith('utf-16') !== true) return found;
  // Valid UTF-8 without zero bytes is not UTF-16.
  return isUtf8(bytes) && !bytes.includes(0) ? null : declared;
}

/** Returns the encoding of a byte order mark, or null. */
export function byteOrderMark(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return null;
}

/** Returns the charset parameter of a Content-Type header in lower case, or null. */
export function charsetOf(contentType: string | null): string | null {
  const charset = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))/i.exec(contentType ?? '');
  return (charset?.[1] ?? charset?.[2] ?? charset?.[3] ?? '').trim().toLowerCase() || null;
}

/**
 * Returns the first declared encoding that is known and possible. A declaration of UTF-16 is wrong here, because real
 * UTF-16 was recognised before. If the header declares UTF-8 and the bytes are not UTF-8, the page's own declaration
 * counts.
 */
function declaredEncoding(
  { bytes, contentType }: Pick<ParseInput, 'bytes' | 'contentType'>,
  html: boolean,
): string | null {
  const header = encodingOf(charsetOf(contentType) ?? '');
  const isPossible = header !== null && !header.startsWith('utf-16') && (header !== 'utf-8' || isMostlyUtf8(bytes));
  if (isPossible || !html) return isPossible ? header : null;
  const inPage = encodingOf(prescanMeta(bytes) ?? '');
  return inPage ?? (header === 'utf-8' ? header : null);
}

const BEYOND_ASCII = /[^\0-\x7f]/g;

/** Whether a text has at least CERTAIN_SEQUENCES characters beyond ASCII. @param bytes length of the text as UTF-8 */
function holdsSequences(text: string, bytes: number): boolean {
  // UTF-8 has one or two bytes more per such character than UTF-16 has units, and the decoder has removed the three
  // bytes of a byte order mark. So a low difference excludes enough such characters, and a high one proves them. They
  // are counted only if the difference is between both.
  const added = bytes - text.length;
  if (added < CERTAIN_SEQUENCES) return false;
  if (added >= 2 * CERTAIN_SEQUENCES + 3) return true;
  // The regular expression engine scans a page three to five times as fast as a loop.
  BEYOND_ASCII.lastIndex = 0;
  let found = 0;
  while (found < CERTAIN_SEQUENCES && BEYOND_ASCII.test(text)) found += 1;
  return found >= CERTAIN_SEQUENCES;
}

/** Whether the bytes are UTF-8 that ends within a character or has few invalid bytes. */
function isDamagedUtf8(bytes: Uint8Array): boolean {
  const { right, wrong } = countLetters(new TextDecoder('utf-8').decode(bytes, { stream: true }));
  return right > 0 && right >= 4 * wrong;
}

/** Whether at most half of the non-ASCII sequences are invalid; more indicate another encoding. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  if (isUtf8(bytes)) return true;
  const { right, wrong } = countLetters(new TextDecoder('utf-8').decode(bytes));
  return wrong <= right;
}

/** Counts, in a text decoded as UTF-8, the valid UTF-16 units beyond ASCII, and the invalid sequences (U+FFFD). */
function countLetters(text: string): { right: number; wrong: number } {
  let [right, wrong] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0xfffd) wrong += 1;
    else if (code > 0x7f) right += 1;
  }
  return { right, wrong };
}

import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { guessCharset } from './guessCharset.js';
import type { ParseInput } from './types.js';

/**
 * Bytes in which a page's encoding declaration is searched. Browsers examine 1,024 bytes; real pages often have scripts
 * before it.
 */
const META_WINDOW = 4096;

/**
 * Decodes bytes: by byte order mark, by the Content-Type's charset, by the page's own meta element (`html` only), as
 * UTF-8 if that decodes (a few invalid bytes among many valid ones are accepted), else as windows-1252, the encoding of
 * old pages without a declaration. For a file that is not a page, guessCharset() may find another encoding than
 * windows-1252. A declaration that contradicts the bytes is ignored: some servers send one charset with all files.
 */
export function decodeText(input: Pick<ParseInput, 'bytes' | 'contentType'>, options: { html: boolean }): string {
  const { bytes } = input;
  const declarations = [
    () => byteOrderMark(bytes),
    () => charsetOf(input.contentType),
    () => (options.html ? declaredInPage(bytes) : null),
  ];
  for (const declaration of declarations) {
    const charset = declaration();
    const text = charset === null ? null : decode(bytes, charset);
    if (text !== null) return text;
  }
  const wide = options.html ? null : utf16Without(bytes);
  if (wide !== null) return new TextDecoder(wide).decode(bytes);
  return (
    decodeStrictly(bytes) ??
    decodeDamaged(bytes) ??
    iconv.decode(bufferOf(bytes), options.html ? 'windows-1252' : guessCharset(bytes))
  );
}

/** Returns the encoding of a byte order mark, or null. */
export function byteOrderMark(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return null;
}

/**
 * Detects UTF-16 without a byte order mark: every other byte of its first letters is zero, unlike in any other text.
 */
export function utf16Without(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const pairs = Math.min(bytes.length, 512) >> 1;
  if (pairs < 4) return null;
  let [low, high] = [0, 0];
  for (let nth = 0; nth < pairs; nth++) {
    if (bytes[2 * nth] === 0) high += 1;
    if (bytes[2 * nth + 1] === 0) low += 1;
  }
  if (low > 0.7 * pairs && high < 0.1 * pairs) return 'utf-16le';
  return high > 0.7 * pairs && low < 0.1 * pairs ? 'utf-16be' : null;
}

/** Returns the charset parameter of a Content-Type header in lower case, or null. */
export function charsetOf(contentType: string | null): string | null {
  const charset = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))/i.exec(contentType ?? '');
  return (charset?.[1] ?? charset?.[2] ?? charset?.[3] ?? '').trim().toLowerCase() || null;
}

function declaredInPage(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, META_WINDOW)).toString('latin1');
  // A commented-out declaration does not count.
  const shown = head.replace(/<!--[\s\S]*?-->/g, '');
  for (const [meta] of shown.matchAll(/<meta[\s/][^>]*>/gi)) {
    const charset =
      /[\s/"']charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(meta) ?? /;\s*charset\s*=\s*([^\s"'/>;]+)/i.exec(meta);
    if (charset?.[1] !== undefined) return inPage(charset[1]);
  }
  const xml = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)["']/i.exec(shown);
  return xml?.[1] === undefined ? null : inPage(xml[1]);
}

/** Corrects a page's declared charset: a declaration that was readable byte by byte cannot be UTF-16. */
function inPage(charset: string): string {
  const name = charset.trim().toLowerCase();
  if (name.startsWith('utf-16') || name === 'ucs-2' || name === 'unicode') return 'utf-8';
  return name === 'x-user-defined' ? 'windows-1252' : name;
}

/** Returns the text with invalid bytes replaced; null if the encoding is unknown or clearly wrong. */
function decode(bytes: Uint8Array, charset: string): string | null {
  let encoding: string;
  try {
    encoding = new TextDecoder(charset).encoding;
  } catch {
    return iconv.encodingExists(charset) ? iconv.decode(bufferOf(bytes), charset) : null;
  }
  // Non-ASCII text that is valid UTF-8 is UTF-8. Otherwise use iconv: Node 20 decodes the bytes 0x80 to 0x9f of
  // windows-1252, and of latin1 which means the same, as control characters.
  if (encoding === 'windows-1252') return decodeStrictly(bytes) ?? iconv.decode(bufferOf(bytes), encoding);
  // ASCII is the same in both encodings, and latin1 is by far the fastest to decode.
  if (encoding === 'utf-8' && isAscii(bytes)) return bufferOf(bytes).toString('latin1');
  const text = new TextDecoder(encoding).decode(bytes);
  // Count letters only if some may be invalid.
  const isRight = encoding !== 'utf-8' || (isUtf8(bytes) && !text.includes('\ufffd'));
  return isRight || !isMostlyWrong(text) ? text : null;
}

/** Decodes UTF-8 that ends within a character, or has a few wrong bytes; null for text in another encoding. */
function decodeDamaged(bytes: Uint8Array): string | null {
  const text = new TextDecoder('utf-8').decode(bytes, { stream: true });
  const { right, wrong } = countLetters(text);
  return right > 0 && right >= 4 * wrong ? text : null;
}

/** Whether most non-ASCII bytes were invalid: then the text has another encoding, not a few errors. */
function isMostlyWrong(text: string): boolean {
  const { right, wrong } = countLetters(text);
  return wrong > right;
}

/** Counts the valid letters beyond ASCII, and the sequences that are invalid in the encoding that was tried. */
function countLetters(text: string): { right: number; wrong: number } {
  let [right, wrong] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0xfffd) wrong += 1;
    else if (code > 0x7f) right += 1;
  }
  return { right, wrong };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function decodeStrictly(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

import iconv from 'iconv-lite';
import type { ParseInput } from './types.js';

/** Where a page may say its encoding. Browsers look at 1,024 bytes; scripts in front push it further on real pages. */
const META_WINDOW = 4096;

/**
 * The bytes as text: by byte order mark, the Content-Type's charset, the page's own meta element (`html` only), as
 * UTF-8 where that decodes without error, else as windows-1252, the encoding of undeclared old text. A declaration
 * that the bytes plainly contradict counts for nothing: servers put one charset on whatever they have.
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
  return decodeStrictly(bytes) ?? iconv.decode(bufferOf(bytes), 'windows-1252');
}

/** The encoding that a byte order mark names, or null. */
export function byteOrderMark(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return null;
}

/** The charset parameter of a Content-Type header, lower case, or null. */
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

/** A page whose declaration could be read byte by byte is not UTF-16, whatever it says. */
function inPage(charset: string): string {
  const name = charset.trim().toLowerCase();
  if (name.startsWith('utf-16') || name === 'ucs-2' || name === 'unicode') return 'utf-8';
  return name === 'x-user-defined' ? 'windows-1252' : name;
}

/** The text, wrong bytes replaced; null when the encoding is unknown, or is plainly not that of the bytes. */
function decode(bytes: Uint8Array, charset: string): string | null {
  let encoding: string;
  try {
    encoding = new TextDecoder(charset).encoding;
  } catch {
    return iconv.encodingExists(charset) ? iconv.decode(bufferOf(bytes), charset) : null;
  }
  // Text of letters beyond ASCII that happens to be whole UTF-8 is UTF-8. Otherwise iconv: Node 20 decodes the bytes
  // 0x80 to 0x9f of windows-1252, and of latin1 which means the same, as control characters.
  if (encoding === 'windows-1252') return decodeStrictly(bytes) ?? iconv.decode(bufferOf(bytes), encoding);
  const text = new TextDecoder(encoding).decode(bytes);
  return encoding === 'utf-8' && isMostlyWrong(text) ? null : text;
}

/** Whether more of what is not ASCII was wrong than right: then it was another encoding, not a fault here and there. */
function isMostlyWrong(text: string): boolean {
  if (!text.includes('\ufffd')) return false;
  let balance = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) balance += code === 0xfffd ? 1 : -1;
  }
  return balance > 0;
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

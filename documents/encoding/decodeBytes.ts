import iconv from 'iconv-lite';
import { decodeEbcdic } from './ebcdic.js';

/**
 * Decoders of iconv-lite for encodings that Node decodes differently from the standard. Node 20 decodes the bytes 0x80
 * to 0x9f of windows-1252 as control characters. It omits the extension of euc-kr, and uses another table for Big5.
 */
const BY_ICONV: ReadonlyMap<string, string> = new Map([
  ['windows-1252', 'windows-1252'],
  ['euc-kr', 'cp949'],
  ['big5', 'big5hkscs'],
]);
/** The standard decodes these as the encoding that includes them. */
const SUPERSETS: ReadonlyMap<string, string> = new Map([['gbk', 'gb18030']]);

/**
 * Codecs of iconv-lite, by name without punctuation. Some do not encode text (base64, hex, binary); the others encode
 * text as ASCII bytes (utf7, utf7imap). As in browsers, a label that names one of them counts as unknown. For example,
 * some storage services send `charset=binary` in the Content-Type of every file.
 */
const NOT_ENCODINGS = /^(?:base64|hex|binary|utf7(?:imap)?)$/;

/**
 * Returns the encoding of a label, in the names of the Encoding Standard
 * (https://encoding.spec.whatwg.org/#names-and-labels); for other labels that iconv-lite knows, the label itself. Null
 * for an unknown one.
 */
export function encodingOf(label: string): string | null {
  // Most pages declare nothing, and the error of an unknown label takes as long as decoding a small page.
  if (label === '') return null;
  try {
    const { encoding } = new TextDecoder(label);
    return SUPERSETS.get(encoding) ?? encoding;
  } catch {
    const isCodec = NOT_ENCODINGS.test(label.toLowerCase().replaceAll(/[^a-z\d]/g, ''));
    return !isCodec && iconv.encodingExists(label) ? label : null;
  }
}

/** Decodes bytes by an encoding that encodingOf() returned, or 'cp500'. Invalid sequences become U+FFFD. */
export function decodeBytes(bytes: Uint8Array, encoding: string): string {
  if (encoding === 'cp500') return decodeEbcdic(bytes);
  const other = BY_ICONV.get(encoding);
  if (other !== undefined) return iconv.decode(bufferOf(bytes), other);
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return iconv.decode(bufferOf(bytes), encoding);
  }
}

export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

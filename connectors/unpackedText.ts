import { TextDecoder } from 'node:util';

import { decode } from '../egress/decode.js';
import { peek } from '../egress/peek.js';

/** Sufficient for a byte order mark and an XML declaration. */
const HEAD_BYTES = 256;

/**
 * Yields the text of a sitemap or feed: decompressed if its bytes are gzip, independent of its media type, and decoded.
 * The body is closed when the consumer stops.
 * @param count receives the size of each decompressed chunk; throws if the total is too large
 */
export async function* unpackedText(
  body: AsyncIterable<Uint8Array>,
  contentType: string | undefined,
  count: (bytes: number) => void,
): AsyncGenerator<string, void> {
  const packed = await peek(body, 2);
  const isGzip = packed.head[0] === 0x1f && packed.head[1] === 0x8b;
  const { head, all } = await peek(isGzip ? decode(packed.all, 'gzip') : packed.all, HEAD_BYTES);
  const decoder = decoderFor(charsetOf(head, contentType));
  for await (const piece of all) {
    count(piece.length);
    yield decoder.decode(piece, { stream: true });
  }
  yield decoder.decode();
}

/**
 * Returns the charset by the most reliable source (RFC 7303): byte order mark, header, XML declaration; UTF-8 by
 * default.
 */
function charsetOf(head: Uint8Array, contentType: string | undefined): string {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xef && second === 0xbb) return 'utf-8';
  if (first === 0x3c && second === 0) return 'utf-16le';
  if (first === 0 && second === 0x3c) return 'utf-16be';
  const start = Buffer.from(head.subarray(0, HEAD_BYTES)).toString('latin1');
  const declared =
    /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '')?.[1] ??
    /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1] ??
    'utf-8';
  // The declaration was readable as ASCII, so the text cannot be UTF-16, even if it declares that.
  return /^utf-?16/i.test(declared) ? 'utf-8' : declared;
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

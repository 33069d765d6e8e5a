const EXAMINED_BYTES = 4096;

/**
 * Detects UTF-16 without a byte order mark. Text of any script has spaces, line ends or markup, whose zero bytes are
 * either all at even or all at odd offsets.
 */
export function utf16Without(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const length = Math.min(bytes.length, EXAMINED_BYTES) & ~1;
  if (length < 8 || !bytes.subarray(0, length).includes(0)) return null;
  let [even, odd, unlikeAscii] = [0, 0, 0];
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte !== 0) unlikeAscii += byte < 9 || byte > 0x7e ? 1 : 0;
    else if (i % 2 === 0) even += 1;
    else odd += 1;
  }
  // ASCII text with stray zero bytes is not UTF-16: in UTF-16, half of its bytes would be zero. A quarter is required.
  if (unlikeAscii === 0 && (even + odd) * 4 < length) return null;
  const orders = odd > even ? (['utf-16le', 'utf-16be'] as const) : (['utf-16be', 'utf-16le'] as const);
  const zeros = { 'utf-16le': odd, 'utf-16be': even };
  // A letter such as U+4E00 has a zero byte at the other offset, so the decoded text decides.
  return orders.find((order) => zeros[order] * 2 >= MIN_ASCII_SHARE * length && isText(bytes, length, order)) ?? null;
}

/** Minimum share of characters below U+0100, such as ASCII letters and spaces. */
const MIN_ASCII_SHARE = 0.01;

/** Whether nearly all characters are letters, digits, punctuation or white space; rejects binary 16-bit numbers. */
function isText(bytes: Uint8Array, length: number, order: string): boolean {
  const text = new TextDecoder(order).decode(bytes.subarray(0, length));
  const strange =
    text.match(/[\p{Cc}\p{Cn}\p{Co}\p{Cs}\ufffd]/gu)?.filter((char) => !/[\t\n\f\r]/.test(char)).length ?? 0;
  const words = text.match(/[\p{L}\p{M}\p{N}\p{P}\s<>=]/gu)?.length ?? 0;
  return strange <= 0.005 * text.length && words >= 0.9 * text.length;
}

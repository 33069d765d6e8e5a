/** EBCDIC code page 500: the characters of the bytes 0x40 to 0xff. */
const UPPER_BYTES =
  '\u0020\u00a0âäàáãåçñ[.<(+!&éêëèíîïìß]$*);^-/ÂÄÀÁÃÅÇÑ¦,%_>?øÉÊËÈÍÎÏÌ`:#@\'="Øabcdefghi«»ðýþ±°jklmnopqrªºæ¸Æ¤' +
  'µ~stuvwxyz¡¿ÐÝÞ®¢£¥·©§¶¼½¾¬|¯¨´×{ABCDEFGHI\u00adôöòóõ}JKLMNOPQR¹ûüùúÿ\\÷STUVWXYZ²ÔÖÒÓÕ0123456789³ÛÜÙÚ\u009f';

const SPACE = 0x40;
/** New line, line feed, carriage return and tab of EBCDIC. */
const CONTROLS: ReadonlyMap<number, string> = new Map([
  [0x15, '\n'],
  [0x25, '\n'],
  [0x0d, '\r'],
  [0x05, '\t'],
]);

const EXAMINED_BYTES = 4096;

/**
 * Whether the bytes are EBCDIC text: mostly EBCDIC letters, digits and spaces, whose bytes are other characters in
 * ASCII. Reports of mainframes are indented, so the share of letters and digits is measured without the spaces. A few
 * control codes of printers are allowed.
 */
export function isEbcdic(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, EXAMINED_BYTES);
  let [spaces, controls, alphanumerics, other] = [0, 0, 0, 0];
  for (const byte of head) {
    if (byte === SPACE) spaces += 1;
    else if (/[a-z0-9]/i.test(UPPER_BYTES[byte - 0x40] ?? '')) alphanumerics += 1;
    else if (CONTROLS.has(byte)) controls += 1;
    else if (byte < SPACE) other += 1;
  }
  const otherThanSpace = head.length - spaces - controls;
  return (
    spaces >= 0.08 * head.length &&
    spaces > 2 &&
    other <= 0.005 * head.length &&
    otherThanSpace > 0 &&
    alphanumerics >= 0.75 * otherThanSpace
  );
}

export function decodeEbcdic(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte >= 0x40 ? (UPPER_BYTES[byte - 0x40] ?? '') : (CONTROLS.get(byte) ?? '');
  return text;
}

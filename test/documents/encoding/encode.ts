import iconv from 'iconv-lite';

/** Encodings for which iconv-lite writes the same bytes under another name. */
const WRITTEN_AS: ReadonlyMap<string, string> = new Map([
  ['iso-8859-8-i', 'iso-8859-8'],
  ['iso-8859-1', 'windows-1252'],
]);

/** Encodes a text; characters that the encoding does not have become question marks. */
export function encode(text: string, encoding: string): Uint8Array {
  if (encoding === 'iso-2022-jp') return asIso2022Jp(text);
  if (encoding === 'x-mac-cyrillic') return bySingleBytes(text, encoding);
  return iconv.encode(text, WRITTEN_AS.get(encoding) ?? encoding);
}

/** Writes the two-byte characters of EUC-JP in seven bits, between the escape sequences of JIS X 0208 and ASCII. */
function asIso2022Jp(text: string): Uint8Array {
  const euc = iconv.encode(text, 'euc-jp').toString('latin1');
  const seven = (run: string): string =>
    run.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(byte.charCodeAt(0) & 0x7f));
  return Buffer.from(
    euc.replace(/[\x80-\xff]+/g, (run) => `\x1b$B${seven(run)}\x1b(B`),
    'latin1',
  );
}

function bySingleBytes(text: string, encoding: string): Uint8Array {
  const letters = new TextDecoder(encoding).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  return Uint8Array.from([...text], (char) => Math.max(letters.indexOf(char), 0) || 0x3f);
}

/** Decodes what encode() wrote. Node 20 decodes windows-1252 wrongly. */
export function decode(bytes: Uint8Array, encoding: string): string {
  return encoding === 'windows-1252'
    ? iconv.decode(Buffer.from(bytes), encoding)
    : new TextDecoder(encoding).decode(bytes);
}

import { Fault } from '../../contract/failures.js';
import { FILE_FORMATS, type FileFormat, formatOfName, formatOfType, mimeTypeOf } from '../../contract/fileFormats.js';
import { byteOrderMark, charsetOf, utf16Without } from '../decodeText.js';
import type { Identified, ParseInput } from '../types.js';
import { binaryFormat } from './binaryFormat.js';
import { PAGE_START, type TextHead, textFormat } from './textFormat.js';

/**
 * What content is: by the content itself first, then by its type and name. The first 64 KB are enough but for archives
 * whose marks lie behind that, where the name decides until the whole is seen. Media types other than the named ones are
 * plain text when they are text. Throws a Fault unsupported_type for what can't be read.
 */
export function identifyFile(input: Pick<ParseInput, 'bytes' | 'contentType' | 'name'>): Identified {
  const byName = formatOfName(input.name);
  const byType = formatOfType(input.contentType);
  const format = formatOf(input, byName, byType);
  const promised = byName ?? byType;
  const isLie = promised !== null && promised !== format && !areAlike(promised, format);
  return { format, mimeType: mimeTypeOf(format), namedAs: isLie ? promised : null };
}

/** A .txt may be anything that is text, and the types of a page, Markdown and plain text are often mixed up. */
function areAlike(promised: FileFormat, found: FileFormat): boolean {
  const plain: readonly FileFormat[] = ['TXT', 'MD', 'HTML'];
  return plain.includes(promised) && plain.includes(found);
}

function formatOf(
  { bytes, contentType }: Pick<ParseInput, 'bytes' | 'contentType'>,
  byName: FileFormat | null,
  byType: FileFormat | null,
): FileFormat {
  const named = byName ?? byType;
  const binary = binaryFormat(bytes, named);
  if (typeof binary === 'string') return binary;
  if (binary !== null) throw unsupported(binary.unsupported);
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const head = headOf(bytes, contentType, named);
  if (head === null) {
    // Samples without a header have no mark at all.
    if (named === 'PCM') return named;
    throw unsupported('binary data');
  }
  if (/^(?:image|audio|video|font)\//.test(type)) throw unsupported(`of the type ${type}`);
  return textFormat(head, type, byType, byName);
}

const HEAD_LENGTH = 4096;

/** The first characters, good enough to recognise ASCII marks in any encoding; null for what is no text. */
function headOf(bytes: Uint8Array, contentType: string | null, name: FileFormat | null): TextHead | null {
  const part = bytes.subarray(0, HEAD_LENGTH);
  const told = charsetOf(contentType)?.startsWith('utf-16') === true ? 'utf-16le' : null;
  const charset = byteOrderMark(bytes) ?? told ?? (name === 'PCM' ? null : utf16Without(bytes));
  const decoded =
    charset === null
      ? Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1')
      : new TextDecoder(charset).decode(part);
  // Loud samples have no zero byte in them, but are no UTF-8 either.
  if (name === 'PCM' && !isUtf8(part)) return null;
  const text = decoded.trimStart();
  // A page with a stray zero byte in it is still a page, as it is for browsers.
  if (charset === null && decoded.includes('\u0000') && !PAGE_START.test(text)) return null;
  return { text, whole: bytes.byteLength <= HEAD_LENGTH };
}

function isUtf8(part: Uint8Array): boolean {
  try {
    // The last character may be cut.
    new TextDecoder('utf-8', { fatal: true }).decode(part, { stream: true });
    return true;
  } catch {
    return false;
  }
}

const READABLE = Object.entries(FILE_FORMATS)
  .filter(([, { kind }]) => kind === 'text')
  .map(([format]) => format)
  .join(', ');

function unsupported(what: string): Fault {
  return new Fault('unsupported_type', `The content can't be read: it is ${what}. Formats that can be: ${READABLE}.`);
}

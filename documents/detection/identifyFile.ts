import { Fault } from '../../contract/failures.js';
import {
  FILE_FORMATS,
  type FileFormat,
  formatOfName,
  formatOfType,
  mimeTypeOf,
} from '../../contract/files/fileFormats.js';
import { byteOrderMark, utf16Encoding } from '../decodeText.js';
import type { Identified, ParseInput } from '../types.js';
import { binaryFormat } from './binaryFormat.js';
import { PAGE_START, type TextHead, textFormat } from './textFormat.js';

/**
 * Returns the format of a file. Its content decides; if that leaves several formats possible, as most texts do, its
 * media type and name decide, see textFormat. The first 64 KB are enough, except for archives whose identifying members
 * come later: of these, only the whole content is identified by its members, the first 64 KB by the name. If neither
 * the name nor the media type of a text is known, its format is guessed from its content.
 * @throws Fault unsupported_type for unreadable content
 */
export function identifyFile(input: Pick<ParseInput, 'bytes' | 'contentType' | 'name'>): Identified {
  const byName = formatOfName(input.name);
  const byType = formatOfType(input.contentType);
  const format = formatOf(input, byName, byType);
  const declared = byName ?? byType;
  const isMislabelled = declared !== null && declared !== format && !areAlike(declared, format);
  return { format, mimeType: mimeTypeOf(format), namedAs: isMislabelled ? declared : null };
}

/**
 * Whether two formats are easily confused: a .txt may contain any text, and pages, Markdown and plain text often have
 * each other's types.
 */
function areAlike(declared: FileFormat, found: FileFormat): boolean {
  const plain: readonly FileFormat[] = ['TXT', 'MD', 'HTML'];
  return plain.includes(declared) && plain.includes(found);
}

function formatOf(
  { bytes, contentType }: Pick<ParseInput, 'bytes' | 'contentType'>,
  byName: FileFormat | null,
  byType: FileFormat | null,
): FileFormat {
  const namedFormat = byName ?? byType;
  const binary = binaryFormat(bytes, namedFormat);
  if (typeof binary === 'string') return binary;
  if (binary !== null) throw unsupported(binary.unsupported);
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const head = headOf(bytes, contentType, namedFormat);
  if (head === null) {
    // Raw samples have no signature.
    if (namedFormat === 'PCM') return namedFormat;
    throw unsupported('binary data');
  }
  if (/^(?:image|audio|video|font)\//.test(type)) throw unsupported(`of the type ${type}`);
  if (FLAT_DOCUMENT.test(head.text)) return flatFormat(bytes, namedFormat);
  return textFormat(head, type, byType, byName);
}

/** The root element of an OpenDocument file that is a single XML file instead of an archive. */
const FLAT_DOCUMENT = /<(?:\w+:)?document\s[^>]*xmlns:\w+="urn:oasis:names:tc:opendocument:xmlns:office:1\.0"/;

/** Bytes of a root element with its declarations; LibreOffice writes about 4 KB. */
const ROOT_LENGTH = 16 * 1024;

/** Returns the format that a flat OpenDocument file states in its root element; if it states none, that of its name. */
function flatFormat(bytes: Uint8Array, namedFormat: FileFormat | null): FileFormat {
  const root = new TextDecoder(byteOrderMark(bytes) ?? 'utf-8').decode(bytes.subarray(0, ROOT_LENGTH));
  const stated = /<[^<>]*\bmimetype\s*=\s*["']([^"']{1,200})["']/.exec(root)?.[1] ?? null;
  const format = formatOfType(stated) ?? (stated === null ? namedFormat : null);
  if (format === 'ODT' || format === 'ODS' || format === 'ODP') return format;
  throw unsupported(
    `an OpenDocument file of another kind (${stated ?? 'it states none'}). Save it as .odt, .ods, .odp or PDF and send that`,
  );
}

const HEAD_LENGTH = 4096;

/**
 * Returns the first characters, decoded well enough to recognise ASCII marks in any encoding; null if the content is
 * not text.
 */
function headOf(bytes: Uint8Array, contentType: string | null, name: FileFormat | null): TextHead | null {
  const part = bytes.subarray(0, HEAD_LENGTH);
  const charset = byteOrderMark(bytes) ?? (name === 'PCM' ? null : utf16Encoding({ bytes, contentType }));
  const decoded =
    charset === null
      ? Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1')
      : new TextDecoder(charset).decode(part);
  // Loud PCM samples contain no zero byte, but are not UTF-8 either.
  if (name === 'PCM' && !isUtf8(part)) return null;
  const text = decoded.trimStart();
  // A page with a stray zero byte counts as a page, as in browsers.
  if (charset === null && decoded.includes('\u0000') && !PAGE_START.test(text)) return null;
  return { text, whole: bytes.byteLength <= HEAD_LENGTH };
}

function isUtf8(part: Uint8Array): boolean {
  try {
    // The last character may be incomplete.
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

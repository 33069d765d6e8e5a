import { Fault } from '../../contract/failures.js';
import { FILE_FORMATS } from '../../contract/files/fileFormats.js';
import { shownUrl } from '../statusFault.js';

const PAGE_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml', 'text/plain', 'text/markdown']);
export const HTML_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);

/** Returns the media type of a Content-Type header without parameters, in lower case; null if there is none. */
export function mediaType(header: string | undefined): string | null {
  const type = (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return type === '' ? null : type;
}

/**
 * Returns the media type of a page; null without a header: then the bytes decide. Throws a Fault for a type that is not
 * text.
 */
export function checkType(url: string, header: string | undefined): string | null {
  const type = mediaType(header);
  if (type === null || PAGE_TYPES.has(type)) return type;
  throw unsupported(url, type);
}

/** Returns the media type of a page without a header, from its first bytes. */
export function sniffType(url: string, bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 1024));
  const magic = MAGIC.find(({ prefix }) => start.subarray(0, prefix.length).toString('latin1') === prefix);
  if (magic) throw unsupported(url, magic.type);
  const isUtf16 = (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
  if (start.includes(0) && !isUtf16) throw unsupported(url, 'application/octet-stream');
  const text = start
    .toString('latin1')
    .replaceAll('\0', '')
    .replace(/^[^<\w]*/, '');
  return /^<(!doctype\s+html|html|head|body|!--|script|title|meta|div|h1|p|table)\b/i.test(text) ||
    text.startsWith('<!--')
    ? 'text/html'
    : 'text/plain';
}

const MAGIC: readonly { prefix: string; type: string }[] = [
  { prefix: '%PDF-', type: 'application/pdf' },
  { prefix: '\x89PNG', type: 'image/png' },
  { prefix: '\xff\xd8\xff', type: 'image/jpeg' },
  { prefix: 'GIF8', type: 'image/gif' },
  { prefix: 'PK\x03\x04', type: 'application/zip' },
  { prefix: '\x1f\x8b', type: 'application/gzip' },
];

/** Media types of files that an upload accepts. */
const UPLOADABLE_TYPES: ReadonlySet<string> = new Set(
  Object.values(FILE_FORMATS).flatMap(({ mimeTypes }): readonly string[] => mimeTypes),
);

function unsupported(url: string, type: string): Fault {
  const message = `The page ${shownUrl(url)} is of the type ${type.slice(0, 100)}, which can't be read as a page: only HTML, plain text and Markdown can.`;
  const next = UPLOADABLE_TYPES.has(type)
    ? 'Ingest it as a file, with POST /upload_file_from_url.'
    : 'Exclude it from the scrape.';
  return new Fault('unsupported_type', `${message} ${next}`);
}

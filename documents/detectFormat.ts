import { Fault } from '../contract/failures.js';
import { byteOrderMark, charsetOf } from './decodeText.js';
import type { ParsedDocument, ParseInput } from './types.js';

type Format = ParsedDocument['format'];

/** What binary content begins with, and what to call it. */
const SIGNATURES: ReadonlyArray<readonly [string, string]> = [
  ['%PDF-', 'a PDF file'],
  ['PK\u0003\u0004', 'a ZIP archive or an Office document'],
  ['\u00d0\u00cf\u0011\u00e0', 'an old Office document'],
  ['{\\rtf', 'an RTF document'],
  ['\u0089PNG', 'a PNG image'],
  ['\u00ff\u00d8\u00ff', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['\u001f\u008b', 'a gzip archive'],
  ['ID3', 'an audio file'],
  ['OggS', 'an audio file'],
  ['RIFF', 'an audio, video or image file'],
  ['\u007fELF', 'a program'],
];

const EXTENSIONS: ReadonlyMap<string, Format> = new Map([
  ['html', 'HTML'],
  ['htm', 'HTML'],
  ['xhtml', 'HTML'],
  ['md', 'MD'],
  ['markdown', 'MD'],
  ['mdown', 'MD'],
  ['mkd', 'MD'],
  ['txt', 'TXT'],
  ['text', 'TXT'],
  ['log', 'TXT'],
]);

const TYPES: ReadonlyMap<string, Format> = new Map([
  ['text/html', 'HTML'],
  ['application/xhtml+xml', 'HTML'],
  ['text/markdown', 'MD'],
  ['text/x-markdown', 'MD'],
]);

/**
 * What only a page begins with, and what a fragment of one may begin with, as a Markdown file may. A comment is matched
 * in one way only: with a lazy dot, thirty comments in a row are tried in every combination.
 */
const PAGE_START =
  /^(?:<!--(?:(?!-->)[\s\S])*-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|body|title|frameset)[\s>]/i;
const FRAGMENT_START =
  /^(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:h[1-6]|div|p|table|ul|ol|dl|a|font|center|script|style|meta|link|br|b|i|span|section|article|main|header|nav|pre|img|form)[\s/>]/i;

/**
 * What the content is to be read as: by the content itself first, then by its type and name. Throws a Fault
 * unsupported_type for what is no text. Media types other than the named ones are read as plain text when they are text.
 */
export function detectFormat(input: Pick<ParseInput, 'bytes' | 'contentType' | 'name'>): Format {
  const head = headOf(input);
  const type = (input.contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (/^(?:image|audio|video|font)\//.test(type) || type === 'application/pdf')
    throw unsupported(`of the type ${type}`);
  if (PAGE_START.test(head)) return 'HTML';
  const byType = TYPES.get(type);
  const byName = EXTENSIONS.get(extensionOf(input.name));
  if (byType === 'HTML') {
    // Some servers call everything a page; text without a single tag keeps its lines only as plain text.
    if (/<[a-z!/]/i.test(head) || head.length >= HEAD_LENGTH) return 'HTML';
    return byName === 'MD' ? 'MD' : 'TXT';
  }
  if (byType !== undefined) return byType;
  if (byName !== undefined && (byName !== 'HTML' || type !== 'text/plain')) return byName;
  return FRAGMENT_START.test(head) && type !== 'text/plain' ? 'HTML' : 'TXT';
}

const HEAD_LENGTH = 4096;

/** The first characters, good enough to recognise ASCII marks in any encoding. */
function headOf({ bytes, contentType }: Pick<ParseInput, 'bytes' | 'contentType'>): string {
  const head = bytes.subarray(0, HEAD_LENGTH);
  const charset = byteOrderMark(bytes) ?? (charsetOf(contentType)?.startsWith('utf-16') === true ? 'utf-16le' : null);
  const text =
    charset === null
      ? Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1')
      : new TextDecoder(charset).decode(head);
  for (const [start, what] of SIGNATURES) if (text.startsWith(start)) throw unsupported(`which is ${what}`);
  const start = text.trimStart();
  // A page with a stray zero byte in it is still a page, as it is for browsers.
  if (charset === null && text.includes('\u0000') && !PAGE_START.test(start)) throw unsupported('which is binary data');
  return start;
}

function extensionOf(name: string): string {
  const path = name.replace(/[?#].*$/s, '');
  return /\.([A-Za-z0-9]{1,10})$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

function unsupported(what: string): Fault {
  return new Fault(
    'unsupported_type',
    `The content can't be read as text: it is ${what.replace(/^which is /, '')}. Send a web page, plain text or Markdown.`,
  );
}

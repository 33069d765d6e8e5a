/** The beginning of a file of each text and image type that can be uploaded: just enough to detect the type. */
import type { IMAGE_SOURCES, TEXT_SOURCES } from '../../contract/sources/sources.js';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const padded = (text: string): Buffer => Buffer.concat([latin1(text), Buffer.alloc(600)]);
/** Returns the beginning of a ZIP archive: a local file header of which only signature and name are set. */
const zip = (member: string): Buffer =>
  padded(`PK\u0003\u0004${'\u0000'.repeat(22)}${String.fromCodePoint(member.length)}\u0000\u0000\u0000${member}`);
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const compound = (stream: string): Buffer =>
  Buffer.concat([latin1('\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1'), Buffer.alloc(504), utf16(stream)]);

export interface SampleFile {
  /** The file extension. */
  readonly ending: string;
  readonly content: Buffer;
  /** The contract's file_format. */
  readonly format: string;
}

const sample = (ending: string, content: Buffer | string, format = ending.toUpperCase()): SampleFile => ({
  ending,
  content: typeof content === 'string' ? Buffer.from(content) : content,
  format,
});

type Uploadable = (typeof TEXT_SOURCES | typeof IMAGE_SOURCES)[number];

export const SAMPLE_FILES: Readonly<Record<Exclude<Uploadable, 'RAW_TEXT'>, SampleFile>> = {
  TEXT: sample('txt', 'Plain words about otters.', 'TXT'),
  CSV: sample('csv', 'name,legs\nspider,8\nant,6\notter,4\n'),
  TSV: sample('tsv', 'name\tlegs\nspider\t8\nant\t6\notter\t4\n'),
  PDF: sample('pdf', '%PDF-1.4\n%\u00e2\u00e3'),
  DOCX: sample('docx', zip('word/document.xml')),
  PPTX: sample('pptx', zip('ppt/presentation.xml')),
  XLSX: sample('xlsx', zip('xl/workbook.xml')),
  XLSM: sample('xlsm', zip('xl/vbaProject.bin')),
  MD: sample('md', '# Otters\n\nThey juggle.'),
  RTF: sample('rtf', '{\\rtf1\\ansi Otters juggle.}'),
  JSON: sample('json', '{"name": "otter", "legs": 4}'),
  HTML: sample(
    'html',
    '<!doctype html><html><body><main><h1>Otters</h1><p>They juggle pebbles.</p></main></body></html>',
  ),
  EML: sample(
    'eml',
    'From: a@example.com\r\nTo: b@example.com\r\nSubject: Otters\r\nDate: Mon, 2 Mar 2026 10:00:00 +0000\r\n\r\nThey juggle.\r\n',
  ),
  MSG: sample('msg', compound('__substg1.0_')),
  JPG: sample('jpg', padded('\u00ff\u00d8\u00ff\u00e0')),
  JPEG: sample('jpeg', padded('\u00ff\u00d8\u00ff\u00e0'), 'JPG'),
  PNG: sample('png', padded('\u0089PNG\r\n\u001a\n')),
};

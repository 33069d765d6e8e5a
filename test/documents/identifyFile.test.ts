import { describe, expect, test } from '@jest/globals';
import { strToU8, type Zippable, zipSync } from 'fflate';
import { identifyFile } from '../../documents/detection/identifyFile.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from './page.js';

const formatOf = (content: string, contentType: string | null, name: string): string =>
  identifyFile({ bytes: new TextEncoder().encode(content), contentType, name }).format;

test('detects an OLE container at any offset in memory', () => {
  const stream = Buffer.from('__substg1.0_', 'utf16le');
  for (const offset of [0, 1, 2, 3]) {
    const bytes = new Uint8Array(new ArrayBuffer(1_200), offset, 1_000);
    bytes.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    bytes.set(stream, 700);
    expect(identifyFile({ bytes, contentType: null, name: 'a' }).format).toBe('MSG');
  }
});

const TEXTS: readonly (readonly [string, string, string | null, string, string])[] = [
  ['a page under any name and type', '\n<!-- x --><!DOCTYPE html><p>a', 'text/plain', 'a.txt', 'HTML'],
  ['XHTML', '<?xml version="1.0"?><html xmlns="x">', 'application/xml', 'a', 'HTML'],
  ['a fragment of a page', '<h1>a</h1>', null, 'upload', 'HTML'],
  ['a fragment at the head of a Markdown file', '<p align=center>x</p>\n\n# Readme', null, 'README.md', 'MD'],
  ['a fragment sent as plain text', '<p>a', 'text/plain', 'https://example.org/a', 'TXT'],
  ['text sent as a page, without a tag', 'line\nline', 'text/html', 'https://example.org/a', 'TXT'],
  ['a page that begins with words', 'Warning: x <br> <p>a', 'text/html; charset=utf-8', 'a', 'HTML'],
  ['text named .htm', 'Hello', null, 'a.HTM', 'HTML'],
  ['Markdown by type', '# a', 'text/markdown; charset=utf-8', 'a', 'MD'],
  ['Markdown by name, sent as plain text', '# a', 'text/plain', 'https://example.org/a.md?raw=1#x', 'MD'],
  ['a page with a stray zero byte', '<!DOCTYPE html><p>a\u0000b', 'text/html', 'a.html', 'HTML'],
  ['any other text', 'print("a")', 'text/x-python', 'a.py', 'TXT'],
  ['text without a name or a type', 'words', null, '', 'TXT'],
  ['JSON by its content', '{"a": 1}', null, '', 'JSON'],
  ['JSON lines by their content', '{"a": 1}\n{"a": 2}\n', null, 'data.bin', 'JSON'],
  ['broken JSON by its name', '{"a": [1, 2', null, 'a.json', 'JSON'],
  ['text named .json', 'Dear all, words follow.', null, 'a.json', 'TXT'],
  ['JSON named .csv', '[{"a": 1, "b": 2}]', 'text/csv', 'a.csv', 'JSON'],
  ['a table named .json', '1,2,3\n4,5,6\n7,8,9\n', 'application/json', 'a.json', 'CSV'],
  ['a table by its content', 'name;city\nAnna;Bern\nBo;Oslo\n', null, 'export', 'CSV'],
  ['a table with tabs', 'name\tcity\nAnna\tBern\nBo\tOslo\n', null, 'a.pdf', 'TSV'],
  ['a table of one line by its name', 'name', 'application/vnd.ms-excel', 'a.csv', 'CSV'],
  ['a table sent as plain text', 'a,b', 'text/plain', 'a.csv', 'CSV'],
  ['text with commas', 'One, two.\nThree, four.\nFive, six.\n', null, '', 'TXT'],
  ['a message by its headers', 'From: a@b.c\r\nTo: d@e.f\r\nSubject: x\r\n\r\nHello', null, 'mail', 'EML'],
  ['a message under a wrong name', 'From: a@b.c\nDate: x\nSubject: x\n\nHello', 'application/pdf', 'a.pdf', 'EML'],
  ['a message sent as plain text', 'From: a@b.c\nDate: x\nSubject: x\n\nHello', 'text/plain', 'a.txt', 'TXT'],
  ['text with a word of the MP4 signature', 'The moov atom comes first.', null, 'a.txt', 'TXT'],
  ['a page named .pdf', '<!doctype html><p>Not found', 'application/pdf', 'a.pdf', 'HTML'],
];

test('detects the format of text by its content, its type and its name', () =>
  everyRow(
    TEXTS,
    ([what]) => what,
    ([, content, contentType, name, format]) => expect(formatOf(content, contentType, name)).toBe(format),
  ));

test.each(['le', 'be'])('reads the head of a short text in the declared utf-16%s', (order) => {
  const bytes = Buffer.from('<p>', 'utf16le');
  if (order === 'be') bytes.swap16();
  expect(identifyFile({ bytes, contentType: `text/html; charset=utf-16${order}`, name: 'a' }).format).toBe('HTML');
});

const hex = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits.replaceAll(' ', ''), 'hex'));
const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));

/** Returns the beginning of an archive: the header of each member, without contents. */
const archiveOf = (...names: readonly string[]): Uint8Array =>
  latin1(
    names
      .map(
        (name) => `PK\u0003\u0004${'\u0000'.repeat(22)}${String.fromCodePoint(name.length)}\u0000\u0000\u0000${name}`,
      )
      .join(''),
  );

const WITH_SIGNATURE: readonly (readonly [string, Uint8Array, string, string | null])[] = [
  ['PDF', latin1('%PDF-1.7\n'), 'a.docx', 'DOCX'],
  ['PDF', latin1('a line in front\n%PDF-1.4\n'), 'a.pdf', null],
  ['DOCX', archiveOf('[Content_Types].xml', 'word/document.xml'), 'a.pdf', 'PDF'],
  ['PPTX', archiveOf('ppt/presentation.xml'), 'a.pptx', null],
  ['XLSX', archiveOf('xl/workbook.xml'), 'a.xlsx', null],
  ['XLSM', archiveOf('xl/workbook.xml'), 'a.xlsm', null],
  ['XLSM', archiveOf('xl/vbaProject.bin'), 'a.xlsx', 'XLSX'],
  ['RTF', latin1('{\\rtf1\\ansi'), 'a.doc', null],
  ['JPG', hex('ff d8 ff e0'), 'a.jpeg', null],
  ['JPG', hex('ff d8 ff e0'), 'a.png', 'PNG'],
  ['PNG', hex('89 50 4e 47 0d 0a 1a 0a'), 'a.png', null],
  ['MP3', hex('49 44 33 04 00 00'), 'a.mp3', null],
  ['MP3', hex('ff fb 90 00'), 'a', null],
  ['MP2', hex('ff fd 90 00'), 'a.mp2', null],
  ['AAC', hex('ff f1 50 80'), 'a.aac', null],
  ['WAV', latin1('RIFF....WAVEfmt '), 'a.wav', null],
  ['AVI', latin1('RIFF....AVI LIST'), 'a.wav', 'WAV'],
  ['FLAC', latin1('fLaC\u0000'), 'a.flac', null],
  ['OGG', latin1('OggS\u0000\u0002....vorbis'), 'a.ogg', null],
  ['OPUS', latin1('OggS\u0000\u0002....OpusHead'), 'a.opus', null],
  ['PCM', hex('00 01 00 02'), 'a.pcm', null],
  ['M4A', latin1('\u0000\u0000\u0000\u0020ftypM4A '), 'a.m4a', null],
  ['MP4', latin1('\u0000\u0000\u0000\u0020ftypisom'), 'a.mp4', null],
  ['MOV', latin1('\u0000\u0000\u0000\u0014ftypqt  '), 'a.mov', null],
  ['WMV', hex('30 26 b2 75 8e 66 cf 11'), 'a.wmv', null],
  ['MKV', latin1('\u001aE\u00df\u00a3..matroska'), 'a.mkv', null],
  ['WEBM', latin1('\u001aE\u00df\u00a3..webm'), 'a.webm', null],
  ['FLV', latin1('FLV\u0001'), 'a.flv', null],
  ['MPEG', hex('00 00 01 ba'), 'a.mpeg', null],
  ['MPG', hex('00 00 01 ba'), 'a.mpg', null],
];

test('detects a file with a signature by its bytes, whatever its name', () =>
  everyRow(
    WITH_SIGNATURE,
    ([format, , name]) => `${format} named ${name}`,
    ([format, bytes, name, namedAs]) =>
      expect(identifyFile({ bytes, contentType: null, name })).toMatchObject({ format, namedAs }),
  ));

describe('an archive with other archives or similar folders inside', () => {
  const stored: Zippable[string] = [new Uint8Array(100), { level: 0 }];
  const document = zipSync({ 'word/document.xml': stored, 'word/vbaProject.bin': stored });
  const macros = zipSync({ 'xl/workbook.bin': stored, 'xl/vbaProject.bin': stored });
  const inside = { 'ppt/embeddings/a.docx': [document, { level: 0 }], 'ppt/embeddings/a.xlsb': macros } as Zippable;
  const deck = zipSync({ 'ppt/presentation.xml': stored, ...inside, 'ppt/slides/slide1.xml': new Uint8Array(70_000) });

  test('has the format of its own folder, also if only its head is known', () => {
    for (const bytes of [deck, deck.subarray(0, deck.length - 200)])
      expect(identifyFile({ bytes, contentType: null, name: 'a' }).format).toBe('PPTX');
    const book = zipSync({ 'xl/workbook.xml': stored, 'xl/embeddings/a.xlsb': macros, 'xl/embeddings/a.pptx': deck });
    expect(identifyFile({ bytes: book, contentType: null, name: 'a' }).format).toBe('XLSX');
  });

  test.each([
    ['documents', zipSync({ 'a.docx': [document, { level: 0 }], 'b.docx': document })],
    ['a folder whose name ends like one of an Office file', zipSync({ 'keyword/list.txt': strToU8('words') })],
    ['the head of an archive of documents', zipSync({ 'a.docx': [document, { level: 0 }] }).subarray(0, -30)],
  ])('is an archive if it has only %s', (_what, bytes) => {
    const identify = () => identifyFile({ bytes, contentType: null, name: 'a.zip' });
    expect(identify).toThrow(/a ZIP archive\. Unpack it/);
  });
});

/** An MP3 frame, 16 kbit/s at 8 kHz, of the length that its header states. */
const FRAME = Buffer.concat([hex('ff e3 28 c4'), Buffer.alloc(140, 7)]);
const TAG = Buffer.concat([latin1('ID3\u0004\u0000\u0000\u0000\u0000\u0001\u0002'), Buffer.alloc(130)]);

test.each([
  ['a sample that looks like an MP3 frame', Buffer.concat([hex('ff fb 90 00'), Buffer.alloc(600, 3)]), 'PCM', null],
  ['a sample that looks like a byte order mark', hex('ff fe 01 01 02 01 ff fe'), 'PCM', null],
  ['loud 8-bit samples', Buffer.from(Array.from({ length: 5000 }, (_, i) => 128 + (i % 90))), 'PCM', null],
  ['two MP3 frames', Buffer.concat([FRAME, FRAME]), 'MP3', 'PCM'],
  ['text', Buffer.from('Words, even of Köln.'), 'TXT', 'PCM'],
])('detects the content of a .pcm file, a format without a signature: %s', (_what, bytes, format, namedAs) => {
  expect(identifyFile({ bytes, contentType: null, name: 'a.pcm' })).toMatchObject({ format, namedAs });
});

test.each([
  ['MP3', FRAME],
  ['AAC', hex('ff f1 50 80')],
  ['FLAC', latin1('fLaC')],
])('detects %s behind an ID3 tag', (format, sound) => {
  const bytes = Buffer.concat([TAG, sound]);
  for (const name of ['a.mp3', 'a.aac', 'a.flac', 'a.mp2', 'a'])
    expect(identifyFile({ bytes, contentType: null, name }).format).toBe(format);
  // A tag with a large picture may exceed the bytes that detection reads, so the name decides.
  const long = Buffer.concat([latin1('ID3\u0004\u0000\u0000\u0000\u007f\u007f\u007f'), Buffer.alloc(500)]);
  expect(identifyFile({ bytes: long, contentType: null, name: `a.${format}` }).format).toBe(format);
});

test('reports a wrong extension, but accepts .txt for any text', () => {
  const namedAs = (content: string, name: string): string | null =>
    identifyFile({ bytes: new TextEncoder().encode(content), contentType: null, name }).namedAs;
  expect(namedAs('<!doctype html><p>x', 'a.pdf')).toBe('PDF');
  expect(namedAs('<!doctype html><p>x', 'a.txt')).toBeNull();
  expect(namedAs('words', 'a.docx')).toBe('DOCX');
});

const OLD_START = Buffer.concat([hex('d0cf11e0a1b11ae1'), Buffer.alloc(512)]);
const OLD_WORD = Buffer.concat([OLD_START, Buffer.from('WordDocument', 'utf16le')]);
/** Returns the beginning of an archive that states its media type in its first member. */
const archiveWithType = (type: string): Uint8Array =>
  latin1(`PK\u0003\u0004${'\u0000'.repeat(26)}mimetype${type}PK\u0003\u0004`);

test.each([
  ['application/vnd.oasis.opendocument.text', 'ODT'],
  ['application/vnd.oasis.opendocument.text-template', 'ODT'],
  ['application/vnd.oasis.opendocument.spreadsheet', 'ODS'],
  ['application/vnd.oasis.opendocument.presentation', 'ODP'],
  ['application/epub+zip', 'EPUB'],
])('detects an archive that states %s as %s, whatever its name', (type, format) => {
  expect(identifyFile({ bytes: archiveWithType(type), contentType: null, name: 'a.docx' })).toMatchObject({
    format,
    namedAs: 'DOCX',
  });
});

test('detects books and documents whose archives do not state their type', () => {
  const formatWith = (members: readonly string[], name: string): string =>
    identifyFile({ bytes: archiveOf(...members), contentType: null, name }).format;
  expect(formatWith(['META-INF/container.xml'], 'a.zip')).toBe('EPUB');
  expect(formatWith(['content.xml', 'META-INF/manifest.xml'], 'a.ods')).toBe('ODS');
  expect(formatWith(['content.xml', 'META-INF/manifest.xml'], 'a')).toBe('ODT');
});

test.each([
  [
    'an image of an iPhone',
    latin1('\u0000\u0000\u0000\u0018ftypheic\u0000\u0000\u0000\u0000mif1'),
    null,
    'a.mp4',
    /HEIC.*JPG/,
  ],
  [
    'an AVIF image',
    latin1('\u0000\u0000\u0000\u001cftypmif1\u0000\u0000\u0000\u0000avif'),
    'image/avif',
    'a',
    /AVIF.*JPG/,
  ],
  ['an archive', archiveOf('notes.txt'), null, 'a.zip', /a ZIP archive\. Unpack it/],
  ['binary data', latin1('abc\u0000def'), 'text/plain', 'a.txt', /binary data/],
  ['an image by its type', latin1('x'), 'image/svg+xml', 'a.svg', /of the type image\/svg\+xml/],
  ['an old Word document', new Uint8Array(OLD_WORD), null, 'a.doc', /Save it as \.docx/],
  ['a binary Excel workbook', archiveOf('[Content_Types].xml', 'xl/workbook.bin'), null, 'book.xlsx', /\.xlsb.*\.xlsx/],
  [
    'an OpenDocument drawing',
    archiveWithType('application/vnd.oasis.opendocument.graphics'),
    null,
    'a.odg',
    /OpenDocument file of another kind .*Save it as \.odt/,
  ],
  [
    'a flat OpenDocument drawing',
    latin1(
      '<?xml version="1.0" encoding="UTF-8"?>\n\n<office:document xmlns:presentation="urn:x" xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:mimetype="application/vnd.oasis.opendocument.graphics">',
    ),
    'application/xml',
    'a.fodg',
    /OpenDocument file of another kind \(application\/vnd\.oasis\.opendocument\.graphics\)\. Save it as \.odt/,
  ],
  [
    'a document of OpenOffice 1',
    archiveWithType('application/vnd.sun.xml.writer'),
    null,
    'a.sxw',
    /OpenDocument file of another kind .*Save it as \.odt/,
  ],
  [
    'an old presentation',
    new Uint8Array(Buffer.concat([OLD_START, Buffer.from('PowerPoint Document', 'utf16le')])),
    null,
    'a.ppt',
    /old PowerPoint presentation .*Save it as \.pptx/,
  ],
  [
    'an old workbook',
    new Uint8Array(Buffer.concat([OLD_START, Buffer.from('Workbook', 'utf16le')])),
    null,
    'a.xls',
    /old Excel workbook .*Save it as \.xlsx/,
  ],
])(
  'rejects %s with a message that names the format or a format to send instead',
  (_name, bytes, contentType, name, message) => {
    expect(() => identifyFile({ bytes, contentType, name })).toThrow(message);
    expect(faultOf(() => identifyFile({ bytes, contentType, name }))).toBe('unsupported_type');
  },
);

const formatOf16 = (bytes: Uint8Array): string =>
  identifyFile({ bytes, contentType: 'text/plain; charset=UTF-16LE', name: '' }).format;

test('detects UTF-16 as text, not as binary data', () => {
  const bytes = new Uint8Array(Buffer.from('\ufeff<html><p>ä', 'utf16le'));
  expect(identifyFile({ bytes, contentType: null, name: '' }).format).toBe('HTML');
  const unmarked = new Uint8Array(Buffer.from('words', 'utf16le'));
  expect(formatOf16(unmarked)).toBe('TXT');
});

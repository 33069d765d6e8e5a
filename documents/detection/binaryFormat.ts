import type { FileFormat } from '../../contract/fileFormats.js';
import { hasTwoFrames, mpegAudio } from './mpegFrames.js';

/** What binary content is: a format of ours, or in words what it is instead. Null for what no mark betrays. */
export type BinaryKind = FileFormat | { readonly unsupported: string } | null;

type Test = (bytes: Buffer, named: FileFormat | null) => BinaryKind;

const old = (what: string, instead: string): BinaryKind => ({
  unsupported: `${what}. Save it as ${instead} and send that`,
});

/** Among formats that share one container the name chooses, for only it can. */
const oneOf =
  (first: FileFormat, ...others: FileFormat[]): Test =>
  (_bytes, named) =>
    named !== null && others.includes(named) ? named : first;

/** What stands behind a tag of titles and pictures, where it is not too long to be seen. Its length leaves out each eighth bit. */
const tagged: Test = (bytes, named) => {
  const length = [...bytes.subarray(6, 10)].reduce((sum, byte) => sum * 128 + (byte & 127), 0);
  const sound = bytes.subarray(10 + length);
  if (sound.toString('latin1', 0, 4) === 'fLaC') return 'FLAC';
  return mpegAudio(sound) ?? oneOf('MP3', 'AAC', 'MP2', 'FLAC')(bytes, named);
};

/** Packets of 188 bytes, as video is broadcast. Their mark is the letter G, so the name must say the same. */
const packets: Test = (bytes, named) =>
  bytes[188] === 0x47 && bytes[376] === 0x47 && (named === 'MPEG' || named === 'MPG') ? named : null;

/** What content begins with (as latin1, from an offset), and what it is then. The first that fits counts. */
const SIGNATURES: ReadonlyArray<readonly [start: string, kind: BinaryKind | Test, offset?: number]> = [
  ['%PDF-', 'PDF'],
  ['PK\u0003\u0004', zipFormat],
  ['PK\u0005\u0006', zipFormat],
  ['\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1', compoundFormat],
  ['{\\rtf', 'RTF'],
  ['\u0089PNG\r\n\u001a\n', 'PNG'],
  ['\u00ff\u00d8\u00ff', 'JPG'],
  ['GIF87a', { unsupported: 'a GIF image' }],
  ['GIF89a', { unsupported: 'a GIF image' }],
  ['II*\u0000', { unsupported: 'a TIFF image' }],
  ['MM\u0000*', { unsupported: 'a TIFF image' }],
  ['\u001f\u008b', { unsupported: 'a gzip archive. Unpack it and send what is in it' }],
  ['7z\u00bc\u00af', { unsupported: 'a 7z archive. Unpack it and send what is in it' }],
  ['Rar!\u001a', { unsupported: 'a RAR archive. Unpack it and send what is in it' }],
  ['\u007fELF', { unsupported: 'a program' }],
  ['MZ\u0090', { unsupported: 'a program' }],
  ['ID3\u0002', tagged],
  ['ID3\u0003', tagged],
  ['ID3\u0004', tagged],
  ['fLaC', 'FLAC'],
  ['OggS\u0000', (bytes) => (bytes.subarray(0, 64).includes('OpusHead') ? 'OPUS' : 'OGG')],
  ['RIFF', riffFormat],
  ['RF64', riffFormat],
  ['ftypM4A ', 'M4A', 4],
  ['ftypqt  ', 'MOV', 4],
  ['ftyp', (bytes, named) => (bytes[0] === 0 ? oneOf('MP4', 'M4A', 'MOV')(bytes, named) : null), 4],
  // QuickTime's own programs begin without a mark.
  ...['moov', 'mdat', 'wide'].map((atom) => [atom, (bytes: Buffer) => (bytes[0] === 0 ? 'MOV' : null), 4] as const),
  ['\u0030\u0026\u00b2\u0075\u008e\u0066\u00cf\u0011', 'WMV'],
  ['\u001aE\u00df\u00a3', (bytes) => (bytes.subarray(0, 128).includes('webm') ? 'WEBM' : 'MKV')],
  ['FLV\u0001', 'FLV'],
  ['\u0000\u0000\u0001\u00ba', oneOf('MPEG', 'MPG')],
  ['\u0000\u0000\u0001\u00b3', oneOf('MPEG', 'MPG')],
  ['G', packets],
];

const RIFF: ReadonlyMap<string, BinaryKind> = new Map<string, BinaryKind>([
  ['WAVE', 'WAV'],
  ['AVI ', 'AVI'],
  ['WEBP', { unsupported: 'a WebP image' }],
]);

function riffFormat(bytes: Buffer): BinaryKind {
  return RIFF.get(bytes.toString('latin1', 8, 12)) ?? null;
}

/** By the marks of the content; what lies behind its first part is looked at where it is given. */
export function binaryFormat(content: Uint8Array, named: FileFormat | null): BinaryKind {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  for (const [start, kind, offset = 0] of SIGNATURES) {
    if (bytes.toString('latin1', offset, offset + start.length) !== start) continue;
    const found = typeof kind === 'function' ? kind(bytes, named) : kind;
    if (found !== null) return found;
  }
  // Some programs put a line of their own before the mark of a PDF; readers look for it in the first kilobyte.
  if (named === 'PDF' && bytes.subarray(0, 1024).includes('%PDF-')) return 'PDF';
  // Samples have no header, and may begin as a frame does.
  return named === 'PCM' && !hasTwoFrames(bytes) ? null : mpegAudio(bytes);
}

/** The names of an archive's members are not packed: they stand at the head of each, and together at the end. */
const ARCHIVE_WINDOW = 256 * 1024;

const MEMBERS: ReadonlyArray<readonly [string, FileFormat]> = [
  ['word/', 'DOCX'],
  ['ppt/', 'PPTX'],
  ['xl/vbaProject.bin', 'XLSM'],
  ['xl/', 'XLSX'],
];

function zipFormat(bytes: Buffer, named: FileFormat | null): BinaryKind {
  const head = bytes.toString('latin1', 0, ARCHIVE_WINDOW);
  const names = head + bytes.toString('latin1', Math.max(ARCHIVE_WINDOW, bytes.length - ARCHIVE_WINDOW));
  if (names.includes('mimetypeapplication/vnd.oasis.opendocument'))
    return old('an OpenDocument file', '.docx, .xlsx, .pptx or PDF');
  if (names.includes('mimetypeapplication/epub')) return old('an e-book', 'PDF or HTML');
  const [, found] = MEMBERS.find(([member]) => names.includes(member)) ?? [];
  // A workbook that could have macros and has none is still what it is called.
  if (found === 'XLSX' && named === 'XLSM') return named;
  if (found !== undefined) return found;
  // Of a large file whose marks lie further on, or a broken one: its reader will say.
  if (named !== null && ['DOCX', 'PPTX', 'XLSX', 'XLSM'].includes(named)) return named;
  return { unsupported: 'a ZIP archive. Unpack it and send what is in it' };
}

const STREAMS: ReadonlyArray<readonly [string, BinaryKind]> = [
  ['__substg1.0_', 'MSG'],
  ['__properties_version1.0', 'MSG'],
  ['WordDocument', old('an old Word document (.doc)', '.docx')],
  ['Workbook', old('an old Excel workbook (.xls)', '.xlsx')],
  ['PowerPoint Document', old('an old PowerPoint presentation (.ppt)', '.pptx')],
];

/**
 * Whether the name of a stream stands in a container, two bytes a letter. Looked for as bytes: Node never comes back from
 * a search for UTF-16 in a buffer that begins at an odd address.
 */
const namesStream = (bytes: Buffer, stream: string): boolean => bytes.includes(Buffer.from(stream, 'utf16le'));

/** The container of Outlook messages and of Office files before 2007, and of encrypted ones since. */
function compoundFormat(bytes: Buffer, named: FileFormat | null): BinaryKind {
  if (namesStream(bytes, 'EncryptedPackage'))
    return named !== null && ['DOCX', 'PPTX', 'XLSX', 'XLSM'].includes(named) ? named : 'DOCX';
  for (const [stream, kind] of STREAMS) if (namesStream(bytes, stream)) return kind;
  // Its list of streams lies beyond what was given to look at.
  if (named !== null && ['DOCX', 'PPTX', 'XLSX', 'XLSM', 'MSG'].includes(named)) return named;
  return old('an old Office document', '.docx, .xlsx, .pptx or PDF');
}

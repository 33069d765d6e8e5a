import { type FileFormat, formatOfType } from '../../contract/files/fileFormats.js';
import { memberNames } from './memberNames.js';
import { hasTwoFrames, mpegAudio } from './mpegFrames.js';

/**
 * The type of binary content: a supported format, or a description of an unsupported type. Null if no signature
 * matches.
 */
export type BinaryKind = FileFormat | { readonly unsupported: string } | null;

type Test = (bytes: Buffer, namedFormat: FileFormat | null) => BinaryKind;

const old = (what: string, instead: string): BinaryKind => ({
  unsupported: `${what}. Save it as ${instead} and send that`,
});

/** Chooses by name among formats that share one container, because their signature is the same. */
const oneOf =
  (first: FileFormat, ...otherFormats: FileFormat[]): Test =>
  (_bytes, namedFormat) =>
    namedFormat !== null && otherFormats.includes(namedFormat) ? namedFormat : first;

/**
 * Detects the format after an ID3 tag (titles, pictures). If the tag is longer than the given bytes, the name decides.
 * The length of the tag uses seven bits per byte.
 */
const tagged: Test = (bytes, namedFormat) => {
  const length = [...bytes.subarray(6, 10)].reduce((sum, byte) => sum * 128 + (byte & 127), 0);
  const sound = bytes.subarray(10 + length);
  if (sound.toString('latin1', 0, 4) === 'fLaC') return 'FLAC';
  return mpegAudio(sound) ?? oneOf('MP3', 'AAC', 'MP2', 'FLAC')(bytes, namedFormat);
};

/**
 * Detects MPEG transport streams with packets of 188 bytes. Their sync byte is the letter G, so the name must match
 * too.
 */
const packets: Test = (bytes, namedFormat) =>
  bytes[188] === 0x47 && bytes[376] === 0x47 && (namedFormat === 'MPEG' || namedFormat === 'MPG') ? namedFormat : null;

/**
 * Brands of images and image sequences in the container of MP4: HEIF and HEIC
 * (https://iana.org/assignments/media-types/image/heif, https://iana.org/assignments/media-types/image/heic-sequence)
 * and AVIF (https://aomediacodec.github.io/av1-avif/#image-and-image-collection-brand).
 */
const IMAGE_BRANDS = 'heic heix heim heis hevc hevx hevm hevs mif1 msf1 avif avis'.split(' ');
const HEIF_IMAGE: BinaryKind = { unsupported: 'a HEIC or AVIF image. Save it as JPG or PNG and send that' };

/** Signatures (as latin1, at an offset) and their types. The first match counts. */
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
  ['\u001f\u008b', { unsupported: 'a gzip archive. Unpack it and send its contents' }],
  ['7z\u00bc\u00af', { unsupported: 'a 7z archive. Unpack it and send its contents' }],
  ['Rar!\u001a', { unsupported: 'a RAR archive. Unpack it and send its contents' }],
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
  ...IMAGE_BRANDS.map((brand) => [`ftyp${brand}`, HEIF_IMAGE, 4] as const),
  ['ftyp', (bytes, namedFormat) => (bytes[0] === 0 ? oneOf('MP4', 'M4A', 'MOV')(bytes, namedFormat) : null), 4],
  // Files of QuickTime's own programs begin without a signature.
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

/** Detects the type of binary content by signatures, at its beginning and, for some types, later in it. */
export function binaryFormat(content: Uint8Array, namedFormat: FileFormat | null): BinaryKind {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  for (const [start, kind, offset = 0] of SIGNATURES) {
    if (bytes.toString('latin1', offset, offset + start.length) !== start) continue;
    const found = typeof kind === 'function' ? kind(bytes, namedFormat) : kind;
    if (found !== null) return found;
  }
  // Some programs write a line before a PDF's signature; readers search for the signature in the first kilobyte.
  if (namedFormat === 'PDF' && bytes.subarray(0, 1024).includes('%PDF-')) return 'PDF';
  // A PDF without its signature begins with an object. Readers find its objects nevertheless.
  if (namedFormat === 'PDF' && /(?:^|[\r\n])\s*\d+ \d+ obj\b/.test(bytes.toString('latin1', 0, 1024))) return 'PDF';
  // Raw samples have no header, and may look like the start of a frame.
  return namedFormat === 'PCM' && !hasTwoFrames(bytes) ? null : mpegAudio(bytes);
}

/** The folders of Office files. */
const FOLDERS: ReadonlyArray<readonly [string, FileFormat]> = [
  ['word/', 'DOCX'],
  ['ppt/', 'PPTX'],
  ['xl/', 'XLSX'],
];

/** The archives that state their media type in an uncompressed first member. */
const BY_TYPE: ReadonlySet<FileFormat> = new Set(['ODT', 'ODS', 'ODP', 'EPUB']);

const FIRST_NAME = 'mimetype';
const LOCAL_HEADER_BYTES = 30;

/** Returns the media type that an archive states in its first member; null if it has none. */
function statedType(bytes: Buffer): string | null {
  const nameEnd = LOCAL_HEADER_BYTES + FIRST_NAME.length;
  if (bytes.toString('latin1', LOCAL_HEADER_BYTES, nameEnd) !== FIRST_NAME) return null;
  // Some programs do not write the size before the content. So the type ends at the first character that no type has.
  const start = nameEnd + bytes.readUInt16LE(28);
  return /^[\w.+/-]+?(?=PK|[^\w.+/-]|$)/.exec(bytes.toString('latin1', start, start + 200))?.[0] ?? null;
}

function zipFormat(bytes: Buffer, namedFormat: FileFormat | null): BinaryKind {
  const stated = statedType(bytes);
  if (stated !== null) {
    const format = formatOfType(stated);
    if (format !== null && BY_TYPE.has(format)) return format;
    if (/^application\/vnd\.(?:oasis\.opendocument|sun\.xml)\./.test(stated))
      return old(`an OpenDocument file of another kind (${stated.slice(0, 80)})`, '.odt, .ods, .odp or PDF');
  }
  const names = memberNames(bytes);
  // If a member is an archive, the names may include those of its own members. They come after the name of the outer
  // member, which begins with a folder of the outer format. So the first name with such a folder counts.
  const first = names.find((name) => FOLDERS.some(([folder]) => name.startsWith(folder)));
  const [, found] = FOLDERS.find(([folder]) => first?.startsWith(folder)) ?? [];
  if (found === 'XLSX') {
    const workbook = names.find((name) => name.startsWith('xl/workbook.'));
    if (workbook === 'xl/workbook.bin') return old('a binary Excel workbook (.xlsb)', '.xlsx');
    // A workbook that may contain macros but has none keeps its type.
    return namedFormat === 'XLSM' || names.includes('xl/vbaproject.bin') ? 'XLSM' : found;
  }
  if (found !== undefined) return found;
  // A book or document whose first entry does not state its type.
  if (names.includes('meta-inf/container.xml')) return 'EPUB';
  if (names.includes('content.xml') && names.includes('meta-inf/manifest.xml'))
    return namedFormat !== null && BY_TYPE.has(namedFormat) ? namedFormat : 'ODT';
  // Either the given bytes end before a member that identifies the format, or the file is broken and its reader reports
  // the error.
  if (namedFormat !== null && (BY_TYPE.has(namedFormat) || ['DOCX', 'PPTX', 'XLSX', 'XLSM'].includes(namedFormat)))
    return namedFormat;
  return { unsupported: 'a ZIP archive. Unpack it and send its contents' };
}

const STREAMS: ReadonlyArray<readonly [string, BinaryKind]> = [
  ['__substg1.0_', 'MSG'],
  ['__properties_version1.0', 'MSG'],
  ['WordDocument', old('an old Word document (.doc)', '.docx')],
  ['Workbook', old('an old Excel workbook (.xls)', '.xlsx')],
  ['PowerPoint Document', old('an old PowerPoint presentation (.ppt)', '.pptx')],
];

/**
 * Whether a container has a stream of this name, two bytes per letter. Searches bytes: Node never returns from
 * a search for UTF-16 in a buffer that begins at an odd address.
 */
const namesStream = (bytes: Buffer, stream: string): boolean => bytes.includes(Buffer.from(stream, 'utf16le'));

/** Detects the container of Outlook messages, of Office files before 2007, and of encrypted newer ones. */
function compoundFormat(bytes: Buffer, namedFormat: FileFormat | null): BinaryKind {
  if (namesStream(bytes, 'EncryptedPackage'))
    return namedFormat !== null && ['DOCX', 'PPTX', 'XLSX', 'XLSM'].includes(namedFormat) ? namedFormat : 'DOCX';
  for (const [stream, kind] of STREAMS) if (namesStream(bytes, stream)) return kind;
  // No known stream was found: the list of streams may be after the end of the given bytes.
  if (namedFormat !== null && ['DOCX', 'PPTX', 'XLSX', 'XLSM', 'MSG'].includes(namedFormat)) return namedFormat;
  return old('an old Office document', '.docx, .xlsx, .pptx or PDF');
}

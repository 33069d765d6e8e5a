/**
 * The upload formats: values of the contract's file_format, one row each. File name and declared type are only used if
 * the content does not determine the format.
 */
import type { SourceType } from '../sources/sources.js';

export interface FileFormatRow {
  /** How such a file is read: as text, by OCR (image), or by transcription (audio, video). */
  readonly kind: 'text' | 'image' | 'audio' | 'video';
  /** File name extensions in lower case, each with the `source` of such a file. */
  readonly extensions: Readonly<Record<string, SourceType>>;
  /** Media types, the registered one first. */
  readonly mimeTypes: readonly [string, ...string[]];
}

export const FILE_FORMATS = {
  TXT: { kind: 'text', extensions: { txt: 'TEXT', text: 'TEXT', log: 'TEXT' }, mimeTypes: ['text/plain'] },
  MD: {
    kind: 'text',
    extensions: { md: 'MD', markdown: 'MD', mdown: 'MD', mkd: 'MD' },
    mimeTypes: ['text/markdown', 'text/x-markdown'],
  },
  HTML: {
    kind: 'text',
    extensions: { html: 'HTML', htm: 'HTML', xhtml: 'HTML' },
    mimeTypes: ['text/html', 'application/xhtml+xml'],
  },
  CSV: { kind: 'text', extensions: { csv: 'CSV' }, mimeTypes: ['text/csv', 'application/csv', 'text/x-csv'] },
  TSV: { kind: 'text', extensions: { tsv: 'TSV', tab: 'TSV' }, mimeTypes: ['text/tab-separated-values'] },
  JSON: {
    kind: 'text',
    extensions: { json: 'JSON', jsonl: 'JSON', ndjson: 'JSON', geojson: 'JSON' },
    mimeTypes: [
      'application/json',
      'text/json',
      'application/x-ndjson',
      'application/jsonl',
      'application/json-lines',
      'application/ld+json',
      'application/geo+json',
    ],
  },
  PDF: { kind: 'text', extensions: { pdf: 'PDF' }, mimeTypes: ['application/pdf', 'application/x-pdf'] },
  DOCX: {
    kind: 'text',
    extensions: { docx: 'DOCX', docm: 'DOCX', dotx: 'DOCX' },
    mimeTypes: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  },
  PPTX: {
    kind: 'text',
    extensions: { pptx: 'PPTX', pptm: 'PPTX', ppsx: 'PPTX' },
    mimeTypes: ['application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  },
  XLSX: {
    kind: 'text',
    extensions: { xlsx: 'XLSX', xltx: 'XLSX' },
    mimeTypes: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  },
  XLSM: {
    kind: 'text',
    extensions: { xlsm: 'XLSM' },
    mimeTypes: ['application/vnd.ms-excel.sheet.macroenabled.12'],
  },
  ODT: {
    kind: 'text',
    extensions: { odt: 'DOCX', ott: 'DOCX', fodt: 'DOCX' },
    mimeTypes: [
      'application/vnd.oasis.opendocument.text',
      'application/vnd.oasis.opendocument.text-template',
      'application/vnd.oasis.opendocument.text-flat-xml',
      'application/vnd.oasis.opendocument.text-master',
      'application/vnd.oasis.opendocument.text-web',
    ],
  },
  ODS: {
    kind: 'text',
    extensions: { ods: 'XLSX', ots: 'XLSX', fods: 'XLSX' },
    mimeTypes: [
      'application/vnd.oasis.opendocument.spreadsheet',
      'application/vnd.oasis.opendocument.spreadsheet-template',
      'application/vnd.oasis.opendocument.spreadsheet-flat-xml',
    ],
  },
  ODP: {
    kind: 'text',
    extensions: { odp: 'PPTX', otp: 'PPTX', fodp: 'PPTX' },
    mimeTypes: [
      'application/vnd.oasis.opendocument.presentation',
      'application/vnd.oasis.opendocument.presentation-template',
      'application/vnd.oasis.opendocument.presentation-flat-xml',
    ],
  },
  EPUB: { kind: 'text', extensions: { epub: 'TEXT' }, mimeTypes: ['application/epub+zip'] },
  RTF: { kind: 'text', extensions: { rtf: 'RTF' }, mimeTypes: ['application/rtf', 'text/rtf'] },
  EML: { kind: 'text', extensions: { eml: 'EML' }, mimeTypes: ['message/rfc822'] },
  MSG: { kind: 'text', extensions: { msg: 'MSG' }, mimeTypes: ['application/vnd.ms-outlook'] },
  JPG: { kind: 'image', extensions: { jpg: 'JPG', jpeg: 'JPEG' }, mimeTypes: ['image/jpeg', 'image/jpg'] },
  PNG: { kind: 'image', extensions: { png: 'PNG' }, mimeTypes: ['image/png'] },
  MP3: { kind: 'audio', extensions: { mp3: 'MP3' }, mimeTypes: ['audio/mpeg', 'audio/mp3'] },
  MP2: { kind: 'audio', extensions: { mp2: 'MP2' }, mimeTypes: ['audio/mp2', 'audio/x-mp2'] },
  AAC: { kind: 'audio', extensions: { aac: 'AAC' }, mimeTypes: ['audio/aac', 'audio/x-aac'] },
  WAV: { kind: 'audio', extensions: { wav: 'WAV' }, mimeTypes: ['audio/wav', 'audio/x-wav', 'audio/wave'] },
  FLAC: { kind: 'audio', extensions: { flac: 'FLAC' }, mimeTypes: ['audio/flac', 'audio/x-flac'] },
  PCM: { kind: 'audio', extensions: { pcm: 'PCM' }, mimeTypes: ['audio/l16', 'audio/pcm'] },
  M4A: { kind: 'audio', extensions: { m4a: 'M4A' }, mimeTypes: ['audio/mp4', 'audio/x-m4a', 'audio/m4a'] },
  OGG: { kind: 'audio', extensions: { ogg: 'OGG', oga: 'OGG' }, mimeTypes: ['audio/ogg', 'application/ogg'] },
  OPUS: { kind: 'audio', extensions: { opus: 'OPUS' }, mimeTypes: ['audio/opus'] },
  MPEG: { kind: 'video', extensions: { mpeg: 'MPEG' }, mimeTypes: ['video/mpeg'] },
  MPG: { kind: 'video', extensions: { mpg: 'MPG' }, mimeTypes: ['video/mpeg'] },
  MP4: { kind: 'video', extensions: { mp4: 'MP4' }, mimeTypes: ['video/mp4'] },
  WMV: { kind: 'video', extensions: { wmv: 'WMV' }, mimeTypes: ['video/x-ms-wmv'] },
  AVI: { kind: 'video', extensions: { avi: 'AVI' }, mimeTypes: ['video/x-msvideo', 'video/avi'] },
  MOV: { kind: 'video', extensions: { mov: 'MOV' }, mimeTypes: ['video/quicktime'] },
  MKV: { kind: 'video', extensions: { mkv: 'MKV' }, mimeTypes: ['video/x-matroska'] },
  FLV: { kind: 'video', extensions: { flv: 'FLV' }, mimeTypes: ['video/x-flv'] },
  WEBM: { kind: 'video', extensions: { webm: 'WEBM' }, mimeTypes: ['video/webm'] },
} as const satisfies Record<string, FileFormatRow>;

export type FileFormat = keyof typeof FILE_FORMATS;

/** Further values of file_format: records of services, and scraped pages. */
export const SERVICE_FORMATS = [
  'NOTION',
  'GOOGLE_DOCS',
  'GOOGLE_SHEETS',
  'GOOGLE_SLIDES',
  'INTERCOM',
  'CONFLUENCE',
  'RSS_FEED',
  'GMAIL',
  'OUTLOOK',
  'ZENDESK',
  'FRESHDESK',
  'WEB_SCRAPE',
  'GITBOOK',
  'SALESFORCE',
  'GITHUB',
  'SLACK',
  'GURU',
  'SERVICENOW',
  'GONG',
  'DOCUMENT360',
] as const;
export type ServiceFormat = (typeof SERVICE_FORMATS)[number];

/** The formats that documents/ reads: text, and images of text. */
export type DocumentFormat = {
  [Format in FileFormat]: (typeof FILE_FORMATS)[Format]['kind'] extends 'text' | 'image' ? Format : never;
}[FileFormat];

const rows = Object.entries(FILE_FORMATS) as ReadonlyArray<readonly [FileFormat, FileFormatRow]>;
const byExtension: ReadonlyMap<string, readonly [FileFormat, SourceType]> = new Map(
  rows.flatMap(([format, row]) =>
    Object.entries(row.extensions).map(([ending, source]) => [ending, [format, source] as const] as const),
  ),
);
/** The source of each format: that of its first extension. */
const sourceOfFormat: ReadonlyMap<FileFormat, SourceType> = new Map([...byExtension.values()].toReversed());
/** The format of each media type; of several rows with the same type, the first one. */
const byMimeType: ReadonlyMap<string, FileFormat> = new Map(
  rows.flatMap(([format, row]) => row.mimeTypes.map((type) => [type, format] as const)).toReversed(),
);

/** Returns the extension of a name or URL in lower case without its dot; '' if there is none. */
export function extensionOf(name: string): string {
  // Only URLs have a query or fragment. In names, both marks are ordinary characters: "Notes #1.md".
  const path = /^https?:\/\//i.test(name) ? name.replace(/[?#].*$/s, '') : name;
  return /\.([A-Za-z0-9]{1,10})$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

/** Returns the format for a file name; null if the extension is unknown. */
export const formatOfName = (name: string): FileFormat | null => byExtension.get(extensionOf(name))?.[0] ?? null;

/** Returns the format for a Content-Type, with or without parameters; null if it is unknown. */
export const formatOfType = (contentType: string | null): FileFormat | null =>
  byMimeType.get((contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '') ?? null;

export const mimeTypeOf = (format: FileFormat): string => FILE_FORMATS[format].mimeTypes[0];

/**
 * Returns the `source` of an uploaded file: by its extension if that matches the content's format (.jpeg: JPEG), else
 * by the format.
 */
export function sourceOfUpload(format: FileFormat, name: string): SourceType {
  const byName = byExtension.get(extensionOf(name));
  if (byName?.[0] === format) return byName[1];
  return sourceOfFormat.get(format) ?? 'TEXT';
}

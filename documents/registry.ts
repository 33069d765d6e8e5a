import type { DocumentFormat, FileFormat } from '../contract/files/fileFormats.js';
import { Fault } from '../contract/failures.js';
import { identifyFile } from './detection/identifyFile.js';
import { htmlParser } from './parsers/html.js';
import { markdownParser } from './parsers/markdown.js';
import { textParser } from './parsers/text.js';
import { readTranscript } from './speech/readTranscript.js';
import type { DocumentLimits, ParsedDocument, ParseInput, Parser } from './types.js';

/** The parser of each format. All except HTML, TXT and MD are loaded with the first file of their format. */
const PARSERS: { readonly [Format in DocumentFormat]: () => Parser | Promise<Parser> } = {
  HTML: () => htmlParser,
  TXT: () => textParser,
  MD: () => markdownParser,
  PDF: async () => (await import('./parsers/pdf/index.js')).pdfParser,
  DOCX: async () => (await import('./parsers/docx/index.js')).docxParser,
  PPTX: async () => (await import('./parsers/pptx/index.js')).pptxParser,
  XLSX: async () => (await import('./parsers/xlsx/index.js')).xlsxParser,
  XLSM: async () => (await import('./parsers/xlsx/index.js')).xlsmParser,
  ODT: async () => (await import('./parsers/openDocument/index.js')).odtParser,
  ODS: async () => (await import('./parsers/openDocument/workbook.js')).odsParser,
  ODP: async () => (await import('./parsers/openDocument/index.js')).odpParser,
  EPUB: async () => (await import('./parsers/epub/index.js')).epubParser,
  CSV: async () => (await import('./parsers/csv.js')).csvParser,
  TSV: async () => (await import('./parsers/csv.js')).tsvParser,
  JSON: async () => (await import('./parsers/json.js')).jsonParser,
  RTF: async () => (await import('./parsers/rtf/index.js')).rtfParser,
  EML: async () => (await import('./parsers/eml.js')).emlParser,
  MSG: async () => (await import('./parsers/msg.js')).msgParser,
  JPG: async () => (await import('./parsers/image.js')).jpgParser,
  PNG: async () => (await import('./parsers/image.js')).pngParser,
};

/**
 * Parses content in its detected format. Adds to the metadata how many parts of the file were not read, by kind
 * (`not_read`), and the format that the name or type suggested if the content has another one (`named_as`).
 * @throws Fault that says why it could not be read
 */
export async function parseDocument(input: ParseInput, limits: DocumentLimits): Promise<ParsedDocument> {
  if (input.recording) return readTranscript(input.recording, limits);
  const { format, namedAs } = input.readAs ? { format: input.readAs, namedAs: null } : identifyFile(input);
  if (!isDocument(format)) {
    throw new Fault(
      'unsupported_type',
      `The content is of the format ${format}. Audio and video are transcribed only if they are uploaded as files. Upload it as a file.`,
    );
  }
  const parser = await PARSERS[format]();
  const { notRead, ...document } = await parser.parse(input, limits);
  const added = { ...(notRead ? { not_read: notRead } : {}), ...(namedAs === null ? {} : { named_as: namedAs }) };
  return { ...document, metadata: { ...document.metadata, ...added } };
}

const isDocument = (format: FileFormat): format is DocumentFormat => Object.hasOwn(PARSERS, format);

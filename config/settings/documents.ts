/** Reading documents: processes, OCR and limits. */
import Joi from 'joi';

import { count, type Setting } from './rules.js';

export const DOCUMENTS_SETTINGS = {
  PARSE_THREADS: { schema: count(1), about: 'Threads of a worker that parse and chunk pages of sites.' },
  PARSE_TIMEOUT_MS: { schema: count(60_000), about: 'Time to parse one page.' },
  PARSE_MEMORY_MB: { schema: count(512), about: 'Memory to parse one page.' },
  PARSE_PROCESSES: {
    schema: count(1),
    about: 'Processes of a worker that parse and chunk uploaded files. They start with the first file.',
  },
  PARSE_FILE_TIMEOUT_MS: { schema: count(120_000), about: 'Time to parse one file. Others may wait for it.' },
  PARSE_FILE_MEMORY_MB: {
    schema: count(1536),
    about: 'Memory to parse one file: past it the process that reads it is ended, and the file with it.',
  },
  OCR_LANGUAGES: {
    schema: Joi.string()
      .pattern(/^[a-zA-Z_]+(\s*,\s*[a-zA-Z_]+)*$/)
      .default('eng'),
    about:
      'Languages that use_ocr recognizes, the most likely first, by comma: codes of Tesseract such as `eng,deu`, each of an installed package `@tesseract.js-data/<code>`. English comes along; each more costs time.',
  },
  OCR_PROCESSES: {
    schema: count(1),
    about:
      'Pages that a worker recognizes at once, each in a process of its own. They start with the first page and step back for everything else.',
  },
  OCR_CONCURRENCY: {
    schema: count(4),
    about:
      'Files that a worker has in OCR at once: their pages take turns, so that a short file does not wait for a long one. Other files never wait for them.',
  },
  OCR_PAGE_TIMEOUT_MS: { schema: count(120_000), about: 'Time to recognize one page.' },
  OCR_MEMORY_MB: {
    schema: count(1536),
    about: 'Memory to recognize one page: past it its process is ended, and the file with it.',
  },
  MAX_OCR_PAGES: { schema: count(500), about: 'Pages of one file at most that are recognized.' },
  MAX_OCR_PIXELS: { schema: count(100_000_000), about: 'Pixels of a picture at most that is recognized.' },
  // A string of V8 has 536 million characters at most, which no setting may reach.
  MAX_TEXT_CHARACTERS: {
    schema: count(400_000_000).max(500_000_000),
    about:
      'Characters of extracted text at most; a table has more of them than its file, for each row names its columns.',
  },
  MAX_ELEMENT_DEPTH: {
    schema: count(512),
    about:
      'Elements inside one another at most, of an Office file, an RTF file or JSON. Of HTML those that are deeper are flattened.',
  },
  MAX_DOCUMENT_BYTES: { schema: count(200_000_000), about: 'Bytes of a file at most that is read as text.' },
  MAX_ARCHIVE_ENTRIES: { schema: count(10_000), about: 'Members of an Office file at most; it is a ZIP archive.' },
  MAX_UNPACKED_BYTES: {
    schema: count(500_000_000),
    about: "Bytes at most that an Office file's members unpack to. Those of a PDF are bounded by PARSE_FILE_MEMORY_MB.",
  },
  MAX_UNPACK_RATIO: {
    schema: count(200),
    about: 'Bytes at most that one packed byte may become, in a member of more than a megabyte.',
  },
  MAX_DOCUMENT_PAGES: { schema: count(5000), about: 'Pages of a PDF, or slides of a presentation, at most.' },
  MAX_TABLE_CELLS: { schema: count(50_000_000), about: 'Cells of a table, or values of a JSON file, at most.' },
  MAX_ATTACHMENTS: { schema: count(100), about: 'Attachments of one message at most.' },
  MAX_ELEMENT_ATTRIBUTES: {
    schema: count(1000),
    about: 'Attributes of one element at most, of an Office file. Of HTML further ones are not read.',
  },
  MAX_HTML_DEPTH: {
    schema: count(50_000),
    about:
      'Elements of HTML open inside one another at most. Sloppy pages leave thousands open, hostile ones hundreds of thousands.',
  },
  MAX_HTML_ATTRIBUTES: { schema: count(10_000), about: 'Attributes of one element of HTML at most.' },
} as const satisfies Record<string, Setting>;

/** Reading documents: processes, OCR and limits. */
import Joi from 'joi';

import { OCR_ENGINES } from '../../contract/files/ocrLanguages.js';
import { count, ocrLanguages, type Setting } from './rules.js';

export const DOCUMENTS_SETTINGS = {
  PARSE_THREADS: { schema: count(1), about: 'Threads per worker that parse and chunk web pages.' },
  PARSE_TIMEOUT_MS: { schema: count(60_000), about: 'Time limit for parsing one page.' },
  PARSE_MEMORY_MB: { schema: count(512), about: 'Memory limit for parsing one page.' },
  PARSE_PROCESSES: {
    schema: count(1),
    about: 'Processes per worker that parse and chunk uploaded files. They start with the first file.',
  },
  PARSE_FILE_TIMEOUT_MS: {
    schema: count(120_000),
    about: 'Time limit for parsing one file. Other files may wait for it.',
  },
  PARSE_FILE_MEMORY_MB: {
    schema: count(1536),
    about: 'Memory limit for parsing one file. Above it the parser process is killed, and the file fails.',
  },
  OCR_ENGINE: {
    schema: Joi.string()
      .valid(...OCR_ENGINES)
      .default('wasm'),
    about:
      'Tesseract for OCR: `wasm` comes with this program and downloads its languages; `native` is the program `tesseract` on PATH with the languages installed for it, which takes less time per page. With `native`, a worker does not start if it finds no usable `tesseract`.',
  },
  OCR_LANGUAGES: {
    schema: Joi.string()
      .custom(ocrLanguages)
      .default('eng,deu,fra,spa,ita,por,nld,pol,rus,ukr,chi_sim,chi_tra,jpn,kor,ara'),
    about:
      "Languages that OCR chooses from for each page, the most likely first, separated by commas, by Tesseract's codes. With OCR_ENGINE `wasm`, the data of a language is downloaded by npm when a page first needs it, to `DATA_DIR/ocr-languages`. A single language is used without detection. Requests can name others in `ocr_languages`.",
  },
  OCR_PROCESSES: {
    schema: count(1),
    about:
      'Maximum number of concurrent OCR pages per worker, each in its own process. The processes start with the first page and have a low priority.',
  },
  OCR_CONCURRENCY: {
    schema: count(4),
    about:
      'Maximum number of files in OCR per worker. Their pages take turns, so a short file does not wait for a long one. Files without OCR never wait.',
  },
  OCR_PAGE_TIMEOUT_MS: { schema: count(120_000), about: 'Time limit for OCR of one page.' },
  OCR_MEMORY_MB: {
    schema: count(1536),
    about: 'Memory limit for OCR of one page. Above it the process is killed, and the file fails.',
  },
  MAX_OCR_PAGES: {
    schema: count(500),
    about: 'Maximum number of pages of a file that OCR reads. A file with more pages that need OCR fails.',
  },
  MAX_OCR_PIXELS: { schema: count(100_000_000), about: 'Maximum number of pixels of a picture for OCR.' },
  // V8 limits strings to 536 million characters, so the maximum stays below that.
  MAX_TEXT_CHARACTERS: {
    schema: count(400_000_000).max(500_000_000),
    about:
      'Maximum number of characters of extracted text. A table results in more characters than its file, since each row repeats the column names.',
  },
  MAX_ELEMENT_DEPTH: {
    schema: count(512),
    about:
      'Maximum depth of nested elements. A deeper Office file, RTF file or JSON fails; in HTML, elements deeper than this or than 1,000 are flattened, up to MAX_HTML_DEPTH.',
  },
  MAX_DOCUMENT_BYTES: { schema: count(200_000_000), about: 'Maximum size in bytes of a file that is read as text.' },
  MAX_ARCHIVE_ENTRIES: {
    schema: count(10_000),
    about: 'Maximum number of members of an Office file, which is a ZIP archive.',
  },
  MAX_UNPACKED_BYTES: {
    schema: count(500_000_000),
    about: 'Maximum number of unpacked bytes of an Office file. PDFs are limited by PARSE_FILE_MEMORY_MB.',
  },
  MAX_UNPACK_RATIO: {
    schema: count(200),
    about: 'Maximum compression ratio of a member of an Office file; it applies to members larger than one megabyte.',
  },
  MAX_DOCUMENT_PAGES: { schema: count(5000), about: 'Maximum number of pages of a PDF, or slides of a presentation.' },
  MAX_TABLE_CELLS: {
    schema: count(50_000_000),
    about: 'Maximum number of cells of a table, or values of a JSON file.',
  },
  MAX_ATTACHMENTS: { schema: count(100), about: 'Maximum number of attachments per message.' },
  MAX_ELEMENT_ATTRIBUTES: {
    schema: count(1000),
    about:
      'Maximum number of attributes per element. An Office file or e-book with more fails; in HTML, further attributes are ignored up to MAX_HTML_ATTRIBUTES.',
  },
  MAX_HTML_DEPTH: {
    schema: count(50_000),
    about:
      'Maximum number of open HTML elements; a page with more fails. Invalid pages leave thousands open, hostile ones hundreds of thousands.',
  },
  MAX_HTML_ATTRIBUTES: {
    schema: count(10_000),
    about: 'Maximum number of attributes per HTML element; a page with more fails.',
  },
} as const satisfies Record<string, Setting>;

import path from 'node:path';

import type { OcrLanguage } from '../../contract/files/ocrLanguages.js';
import type { Settings } from '../readSettings.js';
import type { Config } from '../types.js';

/** Returns the settings of the document reader processes, and the limits of documents. @param env for PATH */
export function documentSection(settings: Settings, dataDir: string, env: NodeJS.ProcessEnv): Config['documents'] {
  return {
    threads: settings.number('PARSE_THREADS'),
    timeoutMs: settings.number('PARSE_TIMEOUT_MS'),
    memoryMb: settings.number('PARSE_MEMORY_MB'),
    files: {
      processes: settings.number('PARSE_PROCESSES'),
      timeoutMs: settings.number('PARSE_FILE_TIMEOUT_MS'),
      memoryMb: settings.number('PARSE_FILE_MEMORY_MB'),
    },
    ocr: {
      processes: settings.number('OCR_PROCESSES'),
      timeoutMs: settings.number('OCR_PAGE_TIMEOUT_MS'),
      memoryMb: settings.number('OCR_MEMORY_MB'),
      languages: settings.list('OCR_LANGUAGES') as OcrLanguage[],
      folder: path.join(dataDir, 'ocr-languages'),
      maxPixels: settings.number('MAX_OCR_PIXELS'),
      niceness: settings.number('COMPUTE_NICENESS'),
      searchPath: settings.string('OCR_ENGINE') === 'native' ? (env['PATH'] ?? '') : null,
    },
    limits: {
      maxDepth: settings.number('MAX_ELEMENT_DEPTH'),
      maxAttributesPerElement: settings.number('MAX_ELEMENT_ATTRIBUTES'),
      maxHtmlDepth: settings.number('MAX_HTML_DEPTH'),
      maxHtmlAttributes: settings.number('MAX_HTML_ATTRIBUTES'),
      maxTextCharacters: settings.number('MAX_TEXT_CHARACTERS'),
      maxFileBytes: settings.number('MAX_DOCUMENT_BYTES'),
      maxArchiveEntries: settings.number('MAX_ARCHIVE_ENTRIES'),
      maxUnpackedBytes: settings.number('MAX_UNPACKED_BYTES'),
      maxUnpackRatio: settings.number('MAX_UNPACK_RATIO'),
      maxPages: settings.number('MAX_DOCUMENT_PAGES'),
      maxCells: settings.number('MAX_TABLE_CELLS'),
      maxAttachments: settings.number('MAX_ATTACHMENTS'),
    },
  };
}

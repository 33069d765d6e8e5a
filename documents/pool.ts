import { createReaderQueue } from './readerQueue.js';
import type { OcrLanguage } from '../contract/files/ocrLanguages.js';
import { Fault } from '../contract/failures.js';
import { createLanguageData, type LanguageDataSettings } from './ocr/data/languageData.js';
import { installedLanguages, type NativeTesseract } from './ocr/data/nativeTesseract.js';
import type { DataCode } from './ocr/data/packages.js';
import type { EngineChoice } from './ocr/engines/engine.js';
import type { NeededData } from './ocr/recognizePage.js';
import { createProcesses, type ProcessSettings } from './processes.js';
import type { ReaderCrash } from './readers.js';
import { createThreads, type ThreadSettings } from './threads.js';
import type { PageText } from './placedText.js';
import type { DocumentLimits, DocumentPool, PageLinks, ParseInput, ProcessedDocument } from './types.js';

type OwnProcesses = Omit<ProcessSettings, 'limits' | 'names' | 'niceness'>;

/** Settings of the recognition of scanned pages and pictures. */
export interface OcrSettings extends OwnProcesses, LanguageDataSettings {
  /** Languages to choose from, the most likely first. */
  readonly languages: readonly OcrLanguage[];
  /** Maximum number of pixels of a picture file; a larger one is a Fault too_large. */
  readonly maxPixels: number;
  /** Niceness of the processes relative to their worker: recognition takes long, and text is read first. */
  readonly niceness: number;
  /** An installed Tesseract, which is used instead of the WASM engine. */
  readonly native?: NativeTesseract;
}

export interface PoolSettings extends ThreadSettings {
  /** Processes that read all content except pages of a site. OCR has processes of its own (`ocr`). */
  readonly files: OwnProcesses;
  /** Absent: OCR is disabled. */
  readonly ocr?: OcrSettings;
}

/**
 * Creates the pool; threads and processes start with their first document. Pages of sites are read in threads: they are
 * many and small, and the thread's heap limit covers their reader's memory. Files are read in processes, because
 * libraries that unpack files use memory outside of the heap: a process whose whole memory exceeds a limit is ended,
 * and the worker continues. Pictures are recognized in other processes, so that no text waits for them.
 * @param onCrash called for each reader that died without exceeding a limit; its documents are retried alone
 */
export function createDocumentPool(
  settings: PoolSettings,
  onCrash: (crash: ReaderCrash) => void = () => undefined,
): DocumentPool {
  const { limits, files, ocr } = settings;
  const names = { timeout: 'PARSE_FILE_TIMEOUT_MS', memory: 'PARSE_FILE_MEMORY_MB' };
  const pages = createReaderQueue(createThreads(settings), settings.threads, onCrash);
  const uploads = createReaderQueue(createProcesses({ ...files, limits, names }), files.processes, onCrash);
  const pictures = ocr ? createOcr(ocr, limits, onCrash) : null;
  return {
    process: (input, chunking, signal) =>
      (isPage(input) ? pages : uploads).answer<ProcessedDocument>({ input, chunking }, signal),
    links: (input, links, signal) => pages.answer<PageLinks>({ input, links }, signal),
    async recognize(input, options, signal) {
      if (!pictures) throw new Error('This pool was started without OCR.');
      return pictures.recognize(input, options, signal);
    },
    async close() {
      await Promise.all([pages.close(), uploads.close(), pictures?.close()]);
    },
  };
}

function createOcr(
  ocr: OcrSettings,
  limits: DocumentLimits,
  onCrash: (crash: ReaderCrash) => void,
): Pick<DocumentPool, 'recognize' | 'close'> {
  const { languages, maxPixels, folder, native } = ocr;
  const data = native ? installedLanguages(native) : createLanguageData(ocr);
  const engine: EngineChoice = native
    ? { kind: 'native', program: native.program, dataFolder: native.dataFolder }
    : { kind: 'wasm', folder };
  const names = { timeout: 'OCR_PAGE_TIMEOUT_MS', memory: 'OCR_MEMORY_MB' };
  const readerQueue = createReaderQueue(createProcesses({ ...ocr, limits, names }), ocr.processes, onCrash);
  return {
    async recognize(input, options, signal = NEVER) {
      const refused = new Map<DataCode, Fault>();
      const codes: readonly DataCode[] = ['osd', ...(options.languages ?? languages)];
      for (;;) {
        const choice = { engine, present: data.present(codes), refused: [...refused.keys()] };
        const settings = { ...choice, languages, maxPixels };
        const answer = await readerQueue.answer<PageText | NeededData>(
          { input, recognition: { ...options, settings } },
          signal,
        );
        if (!('needs' in answer)) return answer;
        // The data was requested before and could not be loaded, and the engine cannot read the page without it.
        const fault = refused.get(answer.needs);
        if (fault) throw fault;
        await data.ensure(answer.needs, signal).catch((error: unknown) => {
          if (!(error instanceof Fault)) throw error;
          refused.set(answer.needs, error);
        });
      }
    },
    async close() {
      data.close();
      await readerQueue.close();
    },
  };
}

const NEVER = new AbortController().signal;

const isPage = ({ baseUrl, path }: ParseInput): boolean => baseUrl !== null && path === undefined;

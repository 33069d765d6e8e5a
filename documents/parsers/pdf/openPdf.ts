import { createRequire } from 'node:module';
import path from 'node:path';
import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { Fault } from '../../../contract/failures.js';
import { encryptedFile } from '../../office/openArchive.js';

type Library = typeof Pdfjs;

const library = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));

/** It comes without types. */
const WORKER: string = 'pdfjs-dist/legacy/build/pdf.worker.mjs';

/** The numbers of what a page's content does. */
export const operationsOfPdf = async (): Promise<Library['OPS']> => (await loadLibrary()).OPS;

/** PDF.js, its worker beside it in this thread: the thread or process that parses is the one that may be ended. */
async function loadLibrary(): Promise<Library> {
  const worker: unknown = await import(WORKER);
  Object.assign(globalThis, { pdfjsWorker: worker });
  return import('pdfjs-dist/legacy/build/pdf.mjs');
}

/**
 * Opens a PDF; to be destroyed in the end. No script of it is run and nothing is fetched.
 * @param draws whether its pages are drawn: the decoders of their pictures are at hand then
 */
export async function openPdf(bytes: Uint8Array, draws = false): Promise<Pdfjs.PDFDocumentLoadingTask> {
  const { getDocument, VerbosityLevel } = await loadLibrary();
  return getDocument({
    // PDF.js takes its data over.
    data: Uint8Array.from(bytes),
    isEvalSupported: false,
    enableXfa: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    useWasm: draws,
    ...(draws ? { wasmUrl: `${path.join(library, 'wasm')}/` } : {}),
    stopAtErrors: false,
    verbosity: VerbosityLevel.ERRORS,
    cMapUrl: `${path.join(library, 'cmaps')}/`,
    cMapPacked: true,
    standardFontDataUrl: `${path.join(library, 'standard_fonts')}/`,
  });
}

/** What is thrown for a PDF that could not be opened or read. */
export function pdfFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return error instanceof Error && error.name === 'PasswordException' ? encryptedFile() : brokenPdf(error);
}

export const brokenPdf = (cause: unknown): Fault =>
  new Fault(
    'broken_content',
    "The file is broken: it can't be read as a PDF. Open it in its program, save or print it as a PDF anew and send that.",
    { cause },
  );

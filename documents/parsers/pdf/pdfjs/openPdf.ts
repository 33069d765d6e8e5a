import { createRequire } from 'node:module';
import path from 'node:path';
import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { Fault } from '../../../../contract/failures.js';
import { encryptedFile } from '../../../office/openArchive.js';
import { loadPdfjs } from './loadPdfjs.js';

const library = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));

/** Returns the operator codes of page content. */
export const operationsOfPdf = async (): Promise<typeof Pdfjs.OPS> => (await loadPdfjs()).OPS;

/** The part of a browser's document that receives the fonts of PDF.js. */
const WITHOUT_FONTS = { fonts: { add: () => {}, delete: () => {} } };

/**
 * The purpose for which a PDF is opened: to render its pages, to examine them with their pictures, or to read text and
 * rules.
 */
export type PdfUse = 'drawing' | 'pictures' | 'text';

/**
 * Opens a PDF; the caller destroys the task. Runs no scripts and fetches nothing. Image decoders are only loaded for
 * `drawing`. For `text`, PDF.js omits pictures from the operators of a page instead of decoding them.
 */
export async function openPdf(bytes: Uint8Array, use: PdfUse): Promise<Pdfjs.PDFDocumentLoadingTask> {
  const { getDocument, VerbosityLevel } = await loadPdfjs();
  return getDocument({
    // PDF.js takes ownership of its data.
    data: Uint8Array.from(bytes),
    isEvalSupported: false,
    enableXfa: false,
    // To draw, PDF.js needs the outlines of all glyphs, because Node cannot load fonts. To read, it does not, but it
    // computes them unless it can hand over its fonts.
    disableFontFace: use === 'drawing',
    ...(use === 'drawing' ? {} : { ownerDocument: WITHOUT_FONTS }),
    useSystemFonts: false,
    useWorkerFetch: false,
    useWasm: use === 'drawing',
    // Pictures with more than one pixel are omitted.
    ...(use === 'text' ? { maxImageSize: 1 } : {}),
    ...(use === 'drawing' ? { wasmUrl: `${path.join(library, 'wasm')}/` } : {}),
    stopAtErrors: false,
    verbosity: VerbosityLevel.ERRORS,
    cMapUrl: `${path.join(library, 'cmaps')}/`,
    cMapPacked: true,
    standardFontDataUrl: `${path.join(library, 'standard_fonts')}/`,
  });
}

/** Converts an error of opening or reading a PDF to a Fault. */
export function pdfFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof Error && error.name === 'PasswordException') return encryptedFile();
  // PDF.js supports only the security handler with passwords, "Standard" (ISO 32000-1, 7.6.4), and reports others with
  // this error.
  if (error instanceof Error && /unknown encryption method/i.test(error.message)) {
    return new Fault(
      'encrypted',
      'The file is encrypted with a certificate. Open it with the certificate, save it without protection and send it again.',
    );
  }
  return brokenPdf(error);
}

/** The Fault for a file that PDF.js cannot read. */
export const brokenPdf = (cause: unknown): Fault =>
  new Fault(
    'broken_content',
    "The file is broken: it can't be read as a PDF. Open it in its program, save or print it as a PDF again and send that.",
    { cause },
  );

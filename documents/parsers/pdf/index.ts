import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { ocrMetadata } from '../../ocr/ocrMetadata.js';
import type { NotRead, Parser } from '../../types.js';
import { composePages } from './composePages.js';
import { brokenPdf, openPdf, pdfFault } from './pdfjs/openPdf.js';
import { ScanFinder } from './scanFinder.js';
import { readInfo } from './readInfo.js';
import { type ReadPages, readPages } from './readPages.js';

/** Parses a PDF page by page. Ignores scripts, form actions, attachments and links; renders nothing. */
export const pdfParser: Parser = {
  async parse({ bytes, recognizedPages = [], findTables = false, beforeOcr = false }, limits) {
    const loading = await openPdf(bytes, 'text');
    const scans = new ScanFinder(bytes);
    try {
      const pdf = await loading.promise;
      if (pdf.numPages > limits.maxPages) {
        throw new Fault(
          'too_large',
          `The PDF has ${pdf.numPages} pages, more than the limit (setting MAX_DOCUMENT_PAGES: ${limits.maxPages}). Split it, or raise the setting.`,
        );
      }
      const info = readInfo(await pdf.getMetadata().catch(() => null));
      const recognized = new Map(recognizedPages.map((page) => [page.number, page]));
      const read = await readPages(pdf, recognized, limits, {
        namedRows: findTables,
        scans: beforeOcr ? scans : null,
      });
      const { pages, broken, withoutText, headers, footers } = read;
      const composed = composePages(pages, limits.maxTextCharacters);
      if (composed.text === '' && (!beforeOcr || broken.length === pdf.numPages)) {
        if (broken.length === pdf.numPages) throw brokenPdf(broken[0]);
        throw recognized.size > 0 ? nothingRecognized() : noText(pdf.numPages);
      }
      const ocr = recognized.size > 0 ? ocrMetadata(recognizedPages) : { metadata: {} };
      const notRead = countUnread(read, await countAttachments(pdf), beforeOcr);
      return {
        text: composed.text,
        format: 'PDF',
        mimeType: mimeTypeOf('PDF'),
        metadata: {
          ...info.metadata,
          pages: pdf.numPages,
          ...ocr.metadata,
          ...(headers.length > 0 ? { page_headers: headers } : {}),
          ...(footers.length > 0 ? { page_footers: footers } : {}),
        },
        ...('warnings' in ocr ? { warnings: ocr.warnings } : {}),
        ...(info.created === null ? {} : { sourceCreatedAt: info.created }),
        pages: composed.pages,
        ...(composed.tables.length > 0 ? { tables: composed.tables } : {}),
        ...(withoutText.size > 0 ? { pagesWithoutText: [...withoutText] } : {}),
        ...(notRead === undefined ? {} : { notRead }),
      };
    } catch (error) {
      throw pdfFault(error);
    } finally {
      await scans.close();
      await loading.destroy();
    }
  },
};

/** Returns the number of files attached to the document. */
const countAttachments = async (pdf: Pdfjs.PDFDocumentProxy): Promise<number> => {
  const attachments: unknown = await pdf.getAttachments().catch(() => null);
  return attachments instanceof Map ? attachments.size : Object.keys(attachments ?? {}).length;
};

/** Returns the numbers of omitted parts by kind: pages, attached files and the content of annotations. */
function countUnread(
  { skipped, broken, withoutText }: Pick<ReadPages, 'skipped' | 'broken' | 'withoutText'>,
  attachments: number,
  beforeOcr: boolean,
): NotRead | undefined {
  const counts = {
    ...Object.fromEntries(skipped),
    attachments: attachments + (skipped.get('attachments') ?? 0),
    broken_pages: broken.length,
    // OCR reads them next.
    pages_without_text: beforeOcr ? 0 : withoutText.size - broken.length,
  };
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

const noText = (pages: number): Fault =>
  new Fault(
    'no_text',
    `There is no text in the PDF: its ${pages === 1 ? 'page is' : `${pages} pages are`} empty or a picture. Send it with use_ocr to have pictures of text read.`,
  );

const nothingRecognized = (): Fault =>
  new Fault(
    'no_text',
    'There is no text in the PDF, and none was found in the pictures on its pages. Send one in which letters are sharp, upright and not too small.',
  );

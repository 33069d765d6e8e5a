import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits, PageText, Parser } from '../../types.js';
import { composePages } from './composePages.js';
import { findHeadings, type GroupedPage, type LineGroup } from './findHeadings.js';
import { groupWithTables } from './groupWithTables.js';
import { isPicture, SCANNED_CHARACTERS } from './isPicture.js';
import { brokenPdf, openPdf, pdfFault } from './openPdf.js';
import { type Glyphs, groupLines, readLines } from './readLines.js';

/** Parses a PDF page by page. Ignores scripts, form actions, attachments and links; renders nothing. */
export const pdfParser: Parser = {
  async parse({ bytes, recognizedPages = [], findTables = false, beforeOcr = false }, limits) {
    const loading = await openPdf(bytes);
    try {
      const pdf = await loading.promise;
      if (pdf.numPages > limits.maxPages) {
        throw new Fault(
          'too_large',
          `The PDF has ${pdf.numPages} pages, more than the limit (setting MAX_DOCUMENT_PAGES: ${limits.maxPages}). Split it, or raise the setting.`,
        );
      }
      const facts = readFacts(await pdf.getMetadata().catch(() => null));
      const recognized = new Map(recognizedPages.map((page) => [page.number, page]));
      const { pages, broken, scanned } = await readPages(pdf, recognized, limits, { findTables, beforeOcr });
      const composed = composePages(pages, limits.maxTextCharacters);
      const pagesWithoutText = composed.pages
        .filter(({ number, lines }) => lines.length === 0 || scanned.has(number))
        .map(({ number }) => number);
      if (composed.text === '' && (!beforeOcr || broken.length === pdf.numPages)) {
        if (broken.length === pdf.numPages) throw brokenPdf(broken[0]);
        throw recognized.size > 0 ? nothingRecognized() : noText(pdf.numPages);
      }
      return {
        text: composed.text,
        format: 'PDF',
        mimeType: mimeTypeOf('PDF'),
        metadata: {
          ...facts.metadata,
          pages: pdf.numPages,
          ...(recognized.size > 0 ? { ocr_pages: [...recognized.keys()] } : {}),
        },
        ...(facts.created === null ? {} : { sourceCreatedAt: facts.created }),
        pages: composed.pages,
        ...(composed.tables.length > 0 ? { tables: composed.tables } : {}),
        ...(pagesWithoutText.length > 0 ? { pagesWithoutText } : {}),
      };
    } catch (error) {
      throw pdfFault(error);
    } finally {
      await loading.destroy();
    }
  },
};

/** Reads the pages; an unreadable page is skipped. */
async function readPages(
  pdf: Pdfjs.PDFDocumentProxy,
  recognized: ReadonlyMap<number, PageText>,
  limits: DocumentLimits,
  { findTables, beforeOcr }: { readonly findTables: boolean; readonly beforeOcr: boolean },
): Promise<{ pages: PageText[]; broken: unknown[]; scanned: Set<number> }> {
  const grouped: GroupedPage[] = [];
  const scanned = new Set<number>();
  const broken: unknown[] = [];
  let characters = 0;
  for (let number = 1; number <= pdf.numPages; number++) {
    // If OCR found nothing, typed text on the page still counts.
    const groups = hasWords(recognized.get(number))
      ? []
      : await readGroups(pdf, number, findTables).catch((error: unknown) => {
          broken.push(error);
          return [];
        });
    grouped.push({ number, groups });
    const typed = groups.reduce((sum, { lines }) => sum + lines.reduce((all, { text }) => all + text.length, 0), 0);
    characters += typed;
    if (beforeOcr && typed > 0 && typed < SCANNED_CHARACTERS && (await isScan(pdf, number))) scanned.add(number);
    // Stop at the text limit: composing the pages throws.
    if (characters > limits.maxTextCharacters) break;
  }
  const pages = findHeadings(grouped).map((page) => {
    const read = recognized.get(page.number);
    return read !== undefined && hasWords(read) ? read : page;
  });
  return { pages, broken, scanned };
}

const hasWords = (page: PageText | undefined): boolean => (page?.paragraphs.length ?? 0) > 0;

async function isScan(pdf: Pdfjs.PDFDocumentProxy, number: number): Promise<boolean> {
  const page = await pdf.getPage(number);
  try {
    return await isPicture(page);
  } catch {
    // The pictures are broken, but the typed text can be read.
    return false;
  } finally {
    page.cleanup();
  }
}

async function readGroups(pdf: Pdfjs.PDFDocumentProxy, number: number, wantsTables: boolean): Promise<LineGroup[]> {
  const page = await pdf.getPage(number);
  try {
    const { transform } = page.getViewport({ scale: 1 });
    const content = await page.getTextContent({ disableNormalization: false });
    const runs: Glyphs[] = [];
    for (const item of content.items) {
      if (!('str' in item)) continue;
      runs.push(placed(item, transform));
      // A line end in the file is not one on the page if the next run continues the line.
    }
    return wantsTables ? groupWithTables(runs) : groupLines(readLines(runs)).map((lines) => ({ lines }));
  } finally {
    page.cleanup();
  }
}

interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
}

function placed({ str, transform, width }: TextItem, page: readonly number[]): Glyphs {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = page;
  const [, , ic = 0, id = 0, ie = 0, iif = 0] = transform;
  return {
    text: str,
    x: a * ie + c * iif + e,
    y: b * ie + d * iif + f,
    width,
    size: Math.hypot(a * ic + c * id, b * ic + d * id),
  };
}

/** Entries of the information dictionary, and their metadata names. */
const FACTS: ReadonlyArray<readonly [string, string]> = [
  ['Title', 'title'],
  ['Author', 'author'],
  ['Subject', 'subject'],
  ['Keywords', 'keywords'],
  ['Language', 'language'],
];

function readFacts(found: { info: object } | null): { metadata: Record<string, unknown>; created: string | null } {
  const info = new Map<string, unknown>(Object.entries(found?.info ?? {}));
  const metadata: Record<string, unknown> = {};
  for (const [entry, key] of FACTS) {
    const value = info.get(entry);
    const text = typeof value === 'string' ? oneLine(value).slice(0, 1000) : '';
    if (text !== '') metadata[key] = text;
  }
  const created = pdfDate(info.get('CreationDate'));
  const modified = pdfDate(info.get('ModDate'));
  if (created !== null) metadata['created'] = created;
  if (modified !== null) metadata['modified'] = modified;
  return { metadata, created };
}

/** Converts `D:20240301120000+01'00'` to ISO 8601; null if it is invalid. */
function pdfDate(value: unknown): string | null {
  const parts =
    typeof value === 'string'
      ? /^D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([-+]\d\d)'?(\d\d)?)?/.exec(value)
      : null;
  if (parts === null) return null;
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', zone, zoneMinutes = '00'] = parts;
  const offset = zone === undefined ? 'Z' : `${zone}:${zoneMinutes}`;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
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

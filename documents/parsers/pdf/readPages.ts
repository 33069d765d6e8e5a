import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { PageText } from '../../placedText.js';
import type { DocumentLimits } from '../../types.js';
import { tooLong } from '../../html/render/textWriter.js';
import { findHeadings, type GroupedPage, type LineGroup } from './findHeadings.js';
import { findRunningLines, type RunningLines } from './findRunningLines.js';
import { groupPage } from './groupPage.js';
import { type ScanFinder, SCANNED_CHARACTERS } from './scanFinder.js';
import { asMatrix, UPRIGHT } from './pdfjs/matrix.js';
import { type PageAnnotations, readAnnotations } from './readAnnotations.js';
import { readOutline } from './readOutline.js';
import { readPage } from './readPage.js';

/** The text of a document's pages. */
export interface ReadPages extends Pick<RunningLines<ReadPage>, 'headers' | 'footers'> {
  readonly pages: PageText[];
  /** Errors of unreadable pages. */
  readonly broken: unknown[];
  /** Numbers of the pages without typed text (comments and form values do not count), and of scans with little text. */
  readonly withoutText: ReadonlySet<number>;
  /** Numbers of annotations by kind whose content was not read. */
  readonly skipped: ReadonlyMap<string, number>;
}

/** The line groups of a page, its form values and comments. */
interface ReadPage extends GroupedPage {
  readonly height: number;
  readonly annotations: readonly LineGroup[];
}

interface Options {
  /** Whether rows of tables have the form `header: value`. */
  readonly namedRows: boolean;
  /** Finds scans, which OCR reads afterwards; null: scans are not searched for. */
  readonly scans: ScanFinder | null;
}

/**
 * Reading stops at this multiple of the text limit. The limit itself applies to the text without headers and footers,
 * which are known only after the last page.
 */
const MAX_READ_FACTOR = 2;

/**
 * Reads the pages; an unreadable page is skipped.
 * @param recognized text of pages by OCR, which replaces their typed text
 * @throws Fault too_large if the pages have more than MAX_READ_FACTOR times the permitted text
 */
export async function readPages(
  pdf: Pdfjs.PDFDocumentProxy,
  recognized: ReadonlyMap<number, PageText>,
  limits: DocumentLimits,
  { namedRows, scans }: Options,
): Promise<ReadPages> {
  const read: ReadPage[] = [];
  const withoutText = new Set<number>();
  const skipped = new Map<string, number>();
  const broken: unknown[] = [];
  let characters = 0;
  for (let number = 1; number <= pdf.numPages; number++) {
    // If OCR found nothing, typed text on the page still counts.
    const isRecognized = hasWords(recognized.get(number));
    const page = await readOne(pdf, number, { namedRows, isRecognized }).catch((error: unknown) => {
      broken.push(error);
      return { number, height: 0, groups: [], annotations: [], skipped: new Map<string, number>() };
    });
    read.push(page);
    for (const [kind, count] of page.skipped) skipped.set(kind, (skipped.get(kind) ?? 0) + count);
    const typed = lengthOf(page.groups);
    characters += typed + lengthOf(page.annotations);
    if (typed === 0 && !isRecognized) withoutText.add(number);
    if (scans !== null && typed > 0 && typed < SCANNED_CHARACTERS && (await scans.isScan(number)))
      withoutText.add(number);
    if (characters > MAX_READ_FACTOR * limits.maxTextCharacters) throw tooLong(limits.maxTextCharacters);
  }
  const { pages, headers, footers } = findRunningLines(read);
  const annotations = new Map(pages.map((page) => [page.number, page.annotations]));
  const found = findHeadings(pages, await readOutline(pdf)).map((page) => {
    const other = recognized.get(page.number);
    const { number, paragraphs } = other !== undefined && hasWords(other) ? other : page;
    return { number, paragraphs: [...paragraphs, ...(annotations.get(number) ?? [])] };
  });
  return { pages: found, headers, footers, broken, withoutText, skipped };
}

const lengthOf = (groups: readonly LineGroup[]): number =>
  groups.reduce((sum, { lines }) => sum + lines.reduce((all, { text }) => all + text.length, 0), 0);

const hasWords = (page: PageText | undefined): boolean => (page?.paragraphs.length ?? 0) > 0;

async function readOne(
  pdf: Pdfjs.PDFDocumentProxy,
  number: number,
  { namedRows, isRecognized }: { readonly namedRows: boolean; readonly isRecognized: boolean },
): Promise<ReadPage & Pick<PageAnnotations, 'skipped'>> {
  const page = await pdf.getPage(number);
  try {
    const { transform, height } = page.getViewport({ scale: 1 });
    const { groups: annotations, skipped } = readAnnotations(
      await page.getAnnotations().catch(() => []),
      asMatrix(transform) ?? UPRIGHT,
    );
    const base = { number, height, annotations, skipped };
    if (isRecognized) return { ...base, groups: [] };
    const { runs, rules } = await readPage(page);
    return { ...base, groups: groupPage(runs, rules, namedRows) };
  } finally {
    page.cleanup();
  }
}

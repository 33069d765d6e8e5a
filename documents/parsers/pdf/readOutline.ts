import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { type Outline, outlineKey } from './findHeadings.js';

/** Maximum number of titles that are read from an outline. */
const MAX_TITLES = 5000;

interface Entry {
  readonly title: string;
  readonly items: readonly Entry[];
}

/** Returns the titles of the document's outline; none if it is broken. */
export async function readOutline(pdf: Pdfjs.PDFDocumentProxy): Promise<Outline> {
  const titles = new Set<string>();
  const open: Entry[] = [...((await pdf.getOutline().catch(() => null)) ?? [])];
  for (let nth = 0; nth < open.length && nth < MAX_TITLES; nth++) {
    const { title = '', items = [] } = open[nth] ?? {};
    const key = outlineKey(title);
    if (key !== '') titles.add(key);
    for (const item of items) open.push(item);
  }
  return titles;
}

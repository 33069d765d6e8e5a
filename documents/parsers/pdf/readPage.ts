import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { Box } from '../../tables/pageRows.js';
import { mayHaveTable } from './groupPage.js';
import { asMatrix, type Matrix, placeBox, UPRIGHT } from './pdfjs/matrix.js';
import type { PageContent, TextPart } from './pdfjs/observeContent.js';
import type { Glyphs } from './readLines.js';

/** The text and the lines drawn on a page. */
export interface PageDrawing {
  readonly runs: readonly Glyphs[];
  /** Horizontal and vertical lines; empty if the page cannot have a table. */
  readonly rules: readonly Box[];
}

/** Names of bold fonts: the words for their weights, and the bold fonts of TeX (CMBX, Nimbus…-Medi). */
const BOLD = /bold|black|heavy|demi(?:$|[^a-z])|-medi(?:um)?(?:$|[^a-z])|cmbx|cmssbx|sfbx|lmbx/i;

/** Reads the text of a page, and the lines drawn on it if it may have a table. */
export async function readPage(page: Pdfjs.PDFPageProxy): Promise<PageDrawing> {
  const toPage = asMatrix(page.getViewport({ scale: 1 }).transform) ?? UPRIGHT;
  const texts: TextItem[] = [];
  let content: PageContent = { fonts: {}, rules: [] };
  for await (const part of page.streamTextContent({ disableNormalization: false }) as AsyncIterable<TextPart>) {
    for (const item of part.items) if ('str' in item) texts.push(item);
    content = part.content ?? content;
  }
  const bold = new Set(Object.keys(content.fonts).filter((font) => isBold(content.fonts[font] ?? '')));
  const runs = texts.map((item) => toGlyphs(item, toPage, bold));
  const rules = content.rules.length > 0 && mayHaveTable(runs) ? content.rules : [];
  return { runs, rules: rules.map(({ x1, y1, x2, y2 }) => placeBox(toPage, [x1, y1, x2, y2])) };
}

const isBold = (name: string): boolean => BOLD.test(name.replace(/^[A-Z]{6}\+/, ''));

interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly fontName: string;
}

function toGlyphs(
  { str, transform, width, fontName }: TextItem,
  [a, b, c, d, e, f]: Matrix,
  bold: ReadonlySet<string>,
): Glyphs {
  const [, , ic = 0, id = 0, ie = 0, iif = 0] = transform;
  return {
    text: restoreArabicLetters(str),
    x: a * ie + c * iif + e,
    y: b * ie + d * iif + f,
    width,
    size: Math.hypot(a * ic + c * id, b * ic + d * id),
    ...(bold.has(fontName) ? { isBold: true } : {}),
  };
}

/**
 * Contextual forms of Arabic letters, which some fonts have instead of letters. PDF.js replaces only the forms of the
 * other Unicode block (U+FB50 to U+FDFF).
 */
const LETTER_FORMS = /[\ufe80-\ufefc]+/g;

/**
 * Replaces contextual forms by their letters, and restores the order of lam and alef. Fonts have one glyph for the
 * pair. If the font's ToUnicode table maps that glyph to two letters, PDF.js reverses them together with the line. No
 * word contains an alef followed by another alef and a lam.
 */
const restoreArabicLetters = (text: string): string =>
  text.replaceAll(/ا([أإآا])ل/g, 'ال$1').replaceAll(LETTER_FORMS, (forms) => forms.normalize('NFKC'));

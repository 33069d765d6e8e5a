import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { Box } from '../../tables/pageRows.js';
import { asMatrix, type Matrix, UPRIGHT } from './matrix.js';
import { mayHaveTable } from './groupPage.js';
import type { Glyphs } from './readLines.js';
import { readRules } from './readRules.js';

/** What is drawn on a page. */
export interface PageContent {
  readonly runs: readonly Glyphs[];
  /** Horizontal and vertical lines; only read if the page may have a table. */
  readonly rules: readonly Box[];
}

/** Names of bold fonts: the words for their weights, and the bold fonts of TeX (CMBX, Nimbus…-Medi). */
const BOLD = /bold|black|heavy|demi(?:$|[^a-z])|-medi(?:um)?(?:$|[^a-z])|cmbx|cmssbx|sfbx|lmbx/i;
/** Maximum number of pages whose operators are read only for the names of their fonts: it takes as long as the text. */
const PAGES_FOR_FONTS = 20;

/** The weights of a document's fonts. */
export class FontWeights {
  readonly #isBold = new Map<string, boolean>();
  #pages = 0;

  isBold(font: string): boolean {
    return this.#isBold.get(font) ?? false;
  }

  /** Whether the operators of a page with these fonts should be read for their names. */
  lacks(fonts: ReadonlySet<string>): boolean {
    if (this.#pages >= PAGES_FOR_FONTS || [...fonts].every((font) => this.#isBold.has(font))) return false;
    this.#pages += 1;
    return true;
  }

  /** Reads the weights of a page's fonts, after its operators were read. */
  read(page: Pdfjs.PDFPageProxy, fonts: ReadonlySet<string>): void {
    for (const font of fonts) {
      if (!page.commonObjs.has(font)) continue;
      const { name } = page.commonObjs.get(font) as { readonly name?: unknown };
      this.#isBold.set(font, typeof name === 'string' && BOLD.test(name.replace(/^[A-Z]{6}\+/, '')));
    }
  }
}

/** Reads the text of a page, and the lines drawn on it if it may have a table. */
export async function readPage(page: Pdfjs.PDFPageProxy, weights: FontWeights): Promise<PageContent> {
  const toPage = asMatrix(page.getViewport({ scale: 1 }).transform) ?? UPRIGHT;
  const { items } = await page.getTextContent({ disableNormalization: false });
  const texts = items.filter((item) => 'str' in item);
  const fonts = new Set(texts.map(({ fontName }) => fontName));
  const runs = texts.map((item) => placed(item, toPage));
  const hasGaps = mayHaveTable(runs);
  if (!hasGaps && !weights.lacks(fonts)) return { runs: weighted(texts, runs, weights), rules: [] };
  // Annotations are not part of the page's content: 0 is AnnotationMode.DISABLE of PDF.js.
  const operators = await page.getOperatorList({ annotationMode: 0 }).catch(() => null);
  weights.read(page, fonts);
  const rules = operators !== null && hasGaps ? await readRules(operators, toPage) : [];
  return { runs: weighted(texts, runs, weights), rules };
}

interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly fontName: string;
}

const weighted = (texts: readonly TextItem[], runs: readonly Glyphs[], weights: FontWeights): Glyphs[] =>
  runs.map((run, nth) => (weights.isBold(texts[nth]?.fontName ?? '') ? { ...run, isBold: true } : run));

function placed({ str, transform, width }: TextItem, [a, b, c, d, e, f]: Matrix): Glyphs {
  const [, , ic = 0, id = 0, ie = 0, iif = 0] = transform;
  return {
    text: repaired(str),
    x: a * ie + c * iif + e,
    y: b * ie + d * iif + f,
    width,
    size: Math.hypot(a * ic + c * id, b * ic + d * id),
  };
}

/**
 * Restores the order of lam and alef. Fonts have one glyph for both, which PDF.js turns around with the line if the
 * font's ToUnicode table maps it to two letters. Alef before alef and lam occurs in no word.
 */
const repaired = (text: string): string => text.replaceAll(/ا([أإآا])ل/g, 'ال$1');

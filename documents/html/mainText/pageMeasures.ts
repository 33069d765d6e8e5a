import type { Document, ParentNode } from 'domhandler';
import type { Measure } from '../tree/measureText.js';
import { HOLDS, isElement, isText, type PageElement } from '../tree/pageElement.js';
import { BLOCKS, HEADINGS } from '../tree/tagSets.js';
import type { DeclaredKind } from './declaredKind.js';
import { NameReader } from './nameParts.js';
import { findRepeats, type Repeats } from './repeats.js';

/** Evidence for the kind of a page from its structure; a page can have several shapes. */
export type Shape = 'prose' | 'noprose' | 'long' | 'links' | 'short' | 'images' | 'cards' | 'posts' | 'shop' | 'code';

/** Measures of a whole page with which its blocks are compared. Places and lengths are in visible characters. */
export interface PageMeasures {
  readonly textLength: number;
  readonly proseLength: number;
  /** The kind that the page declares; null if it declares none. */
  readonly declared: DeclaredKind | null;
  /**
   * The last part of the path of the page's address; '' without one. Links to a section of the same page may begin with
   * it, such as `page.html#section`.
   */
  readonly fileName: string;
  /** Whether a main element has a substantial share of the text: in some templates it is empty. */
  readonly hasMain: boolean;
  readonly articles: number;
  /** Position of the first h1; -1 without one. */
  readonly titleAt: number;
  /** Position of the first heading; -1 without one. */
  readonly headingAt: number;
  /** End of the header that Doxygen writes on each page, with the name of the project; -1 without one. */
  readonly projectEnd: number;
  /** The smallest element with most of the prose. */
  readonly core: ParentNode;
  /** The core and the elements that contain it. */
  readonly coreAncestry: ReadonlySet<ParentNode>;
  readonly coreEnd: number;
  /** End of the last long line of prose. */
  readonly proseEnd: number;
  readonly shapes: readonly Shape[];
  /** The repeated children of each element that has any. */
  readonly repeats: ReadonlyMap<ParentNode, Repeats>;
  readonly names: NameReader;
  /** The last position of each text of a heading or of a term, by textKey; of reference documentation only. */
  readonly titles: ReadonlyMap<string, number>;
}

/** Returns a key that is equal for elements with equal text. */
export const textKey = ({ textLength, textHash }: PageElement): string => `${textLength} ${textHash}`;

/** Whether the element is a heading, or a term that is not an entry of a table of contents. */
const isTitle = ({ name, linkLength, textLength }: PageElement): boolean =>
  HEADINGS.has(name) || (name === 'dt' && linkLength < 0.5 * textLength);

export function isBlock(element: PageElement): boolean {
  return BLOCKS.has(element.name) || (element.holds & HOLDS.block) !== 0;
}

/**
 * Returns the innermost element with most of the prose: follows the child that has at least 70% of the prose of its
 * parent.
 */
function findCore(root: Document, proseLength: number): ParentNode {
  let core: ParentNode = root;
  for (;;) {
    const minProseLength: number = 0.7 * (isElement(core) ? core.proseLength : proseLength);
    let next: PageElement | null = null;
    for (const child of core.children) {
      if (isElement(child) && child.proseLength > 0 && child.proseLength >= minProseLength && isBlock(child))
        next = child;
    }
    if (next === null || next.name === 'p') return core;
    core = next;
  }
}

/** Minimum number of characters of a line that certainly belongs to running text. */
const LONG_LINE = 150;

interface Counts {
  mainLength: number;
  articles: number;
  titleAt: number;
  headingAt: number;
  projectEnd: number;
  proseEnd: number;
  cardsLength: number;
  postsLength: number;
  shopNames: number;
  codeBlocks: number;
}

/** Computes the measures of a page in one pass, after `measureText`. */
export function measurePage(
  root: Document,
  all: Measure,
  leftOut: ReadonlySet<PageElement>,
  { declared, fileName }: Pick<PageMeasures, 'declared' | 'fileName'>,
): PageMeasures {
  const names = new NameReader();
  const core = findCore(root, all.proseLength);
  const coreAncestry = new Set<ParentNode>();
  for (let node: ParentNode | null = core; node !== null; node = node.parent) coreAncestry.add(node);
  const counts: Counts = {
    mainLength: 0,
    articles: 0,
    titleAt: -1,
    headingAt: -1,
    projectEnd: -1,
    proseEnd: 0,
    cardsLength: 0,
    postsLength: 0,
    shopNames: 0,
    codeBlocks: 0,
  };
  const repeats = new Map<ParentNode, Repeats>();
  const titles = new Map<string, number>();
  let at = 0;
  let coreStart = 0;
  const visit = (node: ParentNode): void => {
    if (node === core) coreStart = at;
    const found = findRepeats(node);
    if (found !== null) {
      repeats.set(node, found);
      countRepeats(found, counts);
    }
    for (const child of node.children) {
      if (isText(child)) at += Math.max(0, child.visibleLength);
      if (!isElement(child) || child.textLength === 0 || leftOut.has(child)) continue;
      countElement(child, at, names, counts);
      if (declared === 'reference' && isTitle(child)) titles.set(textKey(child), at);
      const start = at;
      visit(child);
      at = start + child.textLength;
      if (child.textLength - child.linkLength >= LONG_LINE && child.blocks === 0 && isBlock(child))
        counts.proseEnd = at;
    }
  };
  visit(root);
  const coreSize = isElement(core) ? core : all;
  return {
    textLength: all.textLength,
    proseLength: all.proseLength,
    declared,
    fileName,
    hasMain: counts.mainLength >= 0.25 * all.textLength,
    articles: counts.articles,
    titleAt: counts.titleAt,
    headingAt: counts.headingAt,
    projectEnd: counts.projectEnd,
    core,
    coreAncestry,
    coreEnd: coreStart + coreSize.textLength,
    proseEnd: counts.proseEnd,
    shapes: shapesOf(all, coreSize, counts),
    repeats,
    names,
    titles,
  };
}

function countRepeats(repeats: Repeats, counts: Counts): void {
  const length = repeats.count * repeats.meanLength;
  if (repeats.links > 0.8 && repeats.images > 0.6 && repeats.meanLength < 400) counts.cardsLength += length;
  else if (repeats.prose > 0.5 && repeats.meanLength > 60) counts.postsLength += length;
}

function countElement(element: PageElement, at: number, names: NameReader, counts: Counts): void {
  const { name, attribs } = element;
  const role = attribs['role'];
  if (name === 'main' || role === 'main') counts.mainLength += element.textLength;
  else if (name === 'article' || role === 'article') counts.articles += 1;
  else if (name === 'pre') counts.codeBlocks += 1;
  else if (name === 'h1' && counts.titleAt === -1) counts.titleAt = at;
  else if (name === 'div' && attribs['id'] === 'titlearea') counts.projectEnd = at + element.textLength;
  if (counts.headingAt === -1 && HEADINGS.has(name)) counts.headingAt = at;
  if (names.read(element).includes('n:shop')) counts.shopNames += 1;
}

function shapesOf(
  all: Measure,
  core: { readonly textLength: number; readonly proseLength: number },
  counts: Counts,
): Shape[] {
  const density = core.proseLength / Math.max(1, core.textLength);
  const tests: ReadonlyArray<readonly [Shape, boolean]> = [
    ['prose', core.proseLength >= 1200 && density >= 0.6],
    ['noprose', core.proseLength < 500 || density < 0.3],
    ['long', core.proseLength >= 4000],
    ['links', all.linkLength > 0.4 * all.textLength],
    ['short', all.textLength < 1500],
    ['images', all.images > 25],
    ['cards', counts.cardsLength > 0.25 * all.textLength],
    ['posts', counts.postsLength > 0.3 * all.textLength],
    ['shop', counts.shopNames >= 3],
    ['code', counts.codeBlocks >= 2],
  ];
  return tests.filter(([, holds]) => holds).map(([shape]) => shape);
}

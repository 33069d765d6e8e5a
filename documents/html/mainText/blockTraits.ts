import type { ChildNode } from 'domhandler';
import { HOLDS, isElement, isText, type PageElement } from '../tree/pageElement.js';
import { isBlock, type PageMeasures } from './pageMeasures.js';
import { type Repeats, signatureOf } from './repeats.js';

/** The place of a block in its page. */
export interface BlockPosition {
  /** Number of characters before the block. */
  readonly start: number;
  readonly inMain: boolean;
  readonly inArticle: boolean;
  readonly inCore: boolean;
  /** Whether the same text is earlier in the page, as with menus and slides that are repeated for small screens. */
  readonly isDuplicate: boolean;
  /** The largest group of its parent's children with one tag and first class; null if fewer than three. */
  readonly siblings: Repeats | null;
  /** The same of its own children. */
  readonly children: Repeats | null;
}

/** Returns a function that names the range of a value. */
function ranges(prefix: string, ...edges: number[]): (value: number) => string {
  const names = [...edges, null].map((edge, i) => `${prefix}${i === 0 ? '' : edges[i - 1]}..${edge ?? ''}`);
  return (value) => {
    let i = 0;
    while (i < edges.length && value >= (edges[i] ?? 0)) i += 1;
    return names[i] ?? '';
  };
}

const linkRange = ranges('link', 0.001, 0.15, 0.35, 0.55, 0.75, 0.92);
const proseRange = ranges('prose', 0.001, 0.2, 0.5, 0.8);
const lengthRange = ranges('len', 8, 25, 60, 120, 300, 1000, 4000);
const shareRange = ranges('share', 0.004, 0.02, 0.08, 0.25, 0.6);
const perLinkRange = ranges('perlink', 8, 15, 25, 40, 80);
const markRange = ranges('marks', 0.001, 0.008, 0.016, 0.025);
const densityRange = ranges('dense', 12, 25, 50, 90, 160);
const fromRange = ranges('from', 0.02, 0.1, 0.3, 0.6, 0.85, 0.95);
const proseShareRange = ranges('ps', 0.001, 0.03, 0.1, 0.3, 0.6);

const TAG_TRAITS: ReadonlyMap<string, string> = new Map(
  (
    'nav aside header footer form section article main ul ol li table p h1 h2 h3 h4 h5 h6 button figure figcaption ' +
    'dl dd dt blockquote pre a details fieldset tr td span label img address time hr strong small center'
  )
    .split(' ')
    .map((name) => [name, `tag:${name}`]),
);

/** Adds the names of the traits that a block has. The rules give points for each. */
export function addTraits(out: string[], element: PageElement, place: BlockPosition, page: PageMeasures): void {
  const { name, textLength, attribs } = element;
  const link = name === 'a' ? 1 : element.linkLength / textLength;
  out.push(TAG_TRAITS.get(name) ?? 'tag:other');
  if (attribs['role'] !== undefined) out.push(`role:${attribs['role']}`);
  addSizes(out, element, page);
  addLinks(out, element, link, place, page);
  addHoldings(out, element);
  addPosition(out, element, place, page);
  if (isBlock(element)) addNeighbours(out, element, link);
  else out.push('inline');
  addRepeats(out, element, place);
  for (const part of page.names.read(element)) out.push(part);
}

function addSizes(out: string[], element: PageElement, page: PageMeasures): void {
  const { textLength, proseLength } = element;
  out.push(
    proseRange(proseLength / textLength),
    lengthRange(textLength),
    shareRange(textLength / page.textLength),
    proseShareRange(proseLength / Math.max(1, page.proseLength)),
  );
  if (textLength >= 25)
    out.push(markRange(element.marks / textLength), densityRange(textLength / (element.blocks + 1)));
}

function addLinks(out: string[], element: PageElement, link: number, place: BlockPosition, page: PageMeasures): void {
  const { links, linkLength } = element;
  out.push(linkRange(link));
  if (place.inCore && element.parent !== page.core) out.push(link > 0.5 ? 'deepLinks' : 'deep');
  if (links === 0) return;
  const perLink = linkLength / links;
  out.push(perLinkRange(perLink));
  if (links >= 10) out.push('links10');
  if (links < 3) return;
  out.push('links3');
  if (link < 0.7) return;
  out.push(perLink >= 25 ? 'headlines' : perLink < 14 ? 'menuish' : 'linklist');
  out.push(place.inCore ? 'linksInCore' : 'linksOutside');
}

function addHoldings(out: string[], element: PageElement): void {
  const { holds, images } = element;
  if ((holds & HOLDS.topHeading) !== 0 || element.name === 'h1') out.push('holdsTitle');
  if ((holds & HOLDS.heading) !== 0) out.push('holdsHeading');
  if ((holds & HOLDS.control) !== 0) out.push('holdsControl');
  if ((holds & HOLDS.table) !== 0) out.push('holdsTable');
  if ((holds & HOLDS.preformatted) !== 0) out.push('holdsPre');
  if ((holds & HOLDS.list) !== 0) out.push('holdsList');
  if (images > 0) out.push('image');
  if (images > 2) out.push('images3');
}

function addPosition(out: string[], element: PageElement, place: BlockPosition, page: PageMeasures): void {
  const { start, inMain, inArticle, inCore } = place;
  const { parent } = element;
  out.push(fromRange(start / page.textLength));
  if (place.isDuplicate) out.push('duplicate');
  if (start >= page.proseEnd) out.push('afterProse');
  if (page.titleAt >= 0) out.push(start + element.textLength <= page.titleAt ? 'beforeTitle' : 'afterTitle');
  if (page.hasMain) out.push(inMain ? 'inMain' : 'outMain');
  if (page.articles === 1) out.push(inArticle ? 'in1Article' : 'out1Article');
  else if (page.articles > 1) out.push(inArticle ? 'inNArticle' : 'outNArticle');
  if (inCore) out.push('inCore');
  else if (page.coreAncestry.has(element)) out.push('aroundCore');
  else out.push(start >= page.coreEnd ? 'afterCore' : 'beforeCore');
  if (parent === page.core) out.push('childOfCore');
  else if (!inCore && parent !== null && page.coreAncestry.has(parent)) out.push('besideCore');
}

function addNeighbours(out: string[], element: PageElement, link: number): void {
  const first = firstLeaf(element);
  if (first !== element && /^h[2-6]$/.test(first.name)) out.push(link > 0.3 ? 'headedLinks' : 'headed');
  const previous = neighbour(element, 'prev');
  const next = neighbour(element, 'next');
  if (previous === null) out.push('first');
  else {
    if (/^h[1-6]$/.test(previous.name)) out.push(link > 0.3 ? 'underHeadingLinks' : 'underHeading');
    if (previous.proseLength > 0) out.push('prevProse');
    if (previous.linkLength > 0.5 * previous.textLength) out.push('prevLinks');
  }
  if (next === null) {
    out.push('last');
    return;
  }
  if (/^h[1-6]$/.test(element.name)) {
    const isLinks = next.linkLength > 0.4 * next.textLength;
    out.push(isLinks ? 'headingOfLinks' : next.proseLength > 0 ? 'headingOfProse' : 'headingOfOther');
  }
  if (next.proseLength > 0) out.push('nextProse');
  if (next.linkLength > 0.5 * next.textLength) out.push('nextLinks');
}

function addRepeats(out: string[], element: PageElement, { children, siblings }: BlockPosition): void {
  if (children !== null) {
    if (children.links <= 0.8) out.push(children.prose > 0.6 ? 'repeatProse' : 'repeatOther');
    else if (children.images > 0.6) out.push(children.meanLength > 150 ? 'cardsLong' : 'cards');
    else if (children.headings > 0.6) out.push('headedItems');
    else out.push(children.meanLength > 80 ? 'linkItemsLong' : 'linkItems');
  }
  if (siblings === null || signatureOf(element) !== siblings.signature) return;
  if (siblings.links <= 0.8) out.push(siblings.prose > 0.6 ? 'aRepeatProse' : 'aRepeat');
  else if (siblings.images > 0.6) out.push('aCard');
  else out.push(siblings.headings > 0.6 ? 'aHeadedItem' : 'aLinkItem');
}

/** Returns the nearest sibling with text; null if text outside of an element comes first. */
function neighbour(element: PageElement, side: 'prev' | 'next'): PageElement | null {
  for (let node: ChildNode | null = element[side]; node !== null; node = node[side]) {
    if (isElement(node) && node.textLength > 0) return node;
    if (isText(node) && node.visibleLength > 0) return null;
  }
  return null;
}

/**
 * Descends into the first child element with text while that is a block. Returns the last element reached. Text outside
 * of child elements is ignored.
 */
function firstLeaf(element: PageElement): PageElement {
  let leaf = element;
  for (;;) {
    let next: PageElement | null = null;
    for (const child of leaf.children) {
      if (!isElement(child) || child.textLength === 0) continue;
      next = child;
      break;
    }
    if (next === null || !isBlock(next)) return leaf;
    leaf = next;
  }
}

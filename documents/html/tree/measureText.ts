import type { ParentNode } from 'domhandler';
import { countText, HOLDS, isElement, isText, type PageElement, visibleLength } from './pageElement.js';
import { BLOCKS, CONTROLS, HEADINGS, LISTS, PREFORMATTED } from './tagSets.js';

/** Counts over the text below an element, without skipped elements. */
export interface Measure {
  /** Visible characters. */
  textLength: number;
  /** Visible characters inside links. */
  linkLength: number;
  /** Links with text. */
  links: number;
  /** Characters outside of links, in lines of at least PROSE_LINE characters. */
  proseLength: number;
  images: number;
  /** Block elements with text. */
  blocks: number;
  /** Commas, full stops and the corresponding marks of other scripts. */
  marks: number;
  /** Equal for elements with equal text. */
  textHash: number;
  /** The kinds of the descendants, as bits of HOLDS. */
  holds: number;
}

/** Minimum number of characters of a line of prose. Captions, dates and labels are shorter. */
const PROSE_LINE = 80;
/** Maximum number of characters of a text that may be a date. */
const LABEL_LINE = 45;

/**
 * Measures the text below a node and stores the result on every element. Skipped elements count as empty. Recursion is
 * safe: buildTree limits the depth of the tree.
 */
export function measureText(root: ParentNode, leftOut: ReadonlySet<PageElement>): Measure {
  return measureInto(isElement(root) ? root : emptyMeasure(), root, { leftOut, changed: null }, false);
}

/**
 * Measures again the elements whose measures change because elements are skipped. measureText() must have measured the
 * whole tree before, with nothing skipped.
 */
export function measureWithout(root: ParentNode, leftOut: ReadonlySet<PageElement>): Measure {
  const changed = new Set<ParentNode>();
  for (const element of leftOut)
    for (let node = element.parent; node !== null && !changed.has(node); node = node.parent) changed.add(node);
  return measureInto(isElement(root) ? root : emptyMeasure(), root, { leftOut, changed }, false);
}

/** What a measurement reads. */
interface Scope {
  /** Skipped elements. */
  readonly leftOut: ReadonlySet<PageElement>;
  /** The ancestors of skipped elements; the measures of other elements stay. Null if all elements are measured. */
  readonly changed: ReadonlySet<ParentNode> | null;
}

const emptyMeasure = (): Measure => ({
  textLength: 0,
  linkLength: 0,
  links: 0,
  proseLength: 0,
  images: 0,
  blocks: 0,
  marks: 0,
  textHash: 0,
  holds: 0,
});

/**
 * Stores the measures on the element itself: a separate object per element would take a tenth of the time of a page.
 */
function measureInto(sum: Measure, node: ParentNode, scope: Scope, inLink: boolean): Measure {
  const { leftOut, changed } = scope;
  clear(sum);
  // Characters outside of links since the last block.
  let line = 0;
  for (const child of node.children) {
    if (isText(child)) {
      countText(child);
      const length = child.visibleLength;
      sum.marks += child.marks;
      sum.textHash = (sum.textHash + child.textHash) | 0;
      sum.textLength += length;
      if (child.digits > 0 && length <= LABEL_LINE) sum.holds |= HOLDS.date;
      if (inLink) sum.linkLength += length;
      else line += length;
    } else if (isElement(child) && leftOut.has(child)) {
      child.textLength = 0;
    } else if (isElement(child)) {
      const isLink = child.name === 'a' && child.attribs['href'] !== undefined;
      if (changed === null || changed.has(child)) {
        measureInto(child, child, scope, inLink || isLink);
        if (child.name === 'img') {
          addLength(child, visibleLength(child.attribs['alt'] ?? ''), inLink);
          child.images = 1;
        }
      }
      const { textLength, linkLength, links, images } = child;
      sum.textLength += textLength;
      sum.linkLength += linkLength;
      sum.links += links + (isLink && textLength > 0 ? 1 : 0);
      sum.images += images;
      sum.marks += child.marks;
      sum.textHash = (sum.textHash + child.textHash) | 0;
      const kind = kindOf(child.name);
      sum.blocks += child.blocks + ((kind & HOLDS.block) !== 0 && textLength > 0 ? 1 : 0);
      const holds = child.holds | kind;
      sum.holds |= holds;
      if ((holds & HOLDS.block) === 0) line += textLength - linkLength;
      else {
        sum.proseLength += child.proseLength + (line >= PROSE_LINE ? line : 0);
        line = 0;
      }
    }
  }
  if (line >= PROSE_LINE) sum.proseLength += line;
  return sum;
}

function clear(measure: Measure): void {
  measure.textLength = 0;
  measure.linkLength = 0;
  measure.links = 0;
  measure.proseLength = 0;
  measure.images = 0;
  measure.blocks = 0;
  measure.marks = 0;
  measure.textHash = 0;
  measure.holds = 0;
}

function addLength(measure: Measure, length: number, inLink: boolean): void {
  measure.textLength += length;
  if (inLink) measure.linkLength += length;
}

function kindOf(name: string): number {
  if (name === 'time' || name === 'meta') return HOLDS.date;
  if (name === 'br') return HOLDS.lineBreak;
  if (!BLOCKS.has(name)) return CONTROLS.has(name) || name === 'input' || name === 'button' ? HOLDS.control : 0;
  let kind: number = HOLDS.block;
  if (HEADINGS.has(name)) kind |= name === 'h1' ? HOLDS.heading | HOLDS.topHeading : HOLDS.heading;
  else if (LISTS.has(name)) kind |= HOLDS.list;
  else if (PREFORMATTED.has(name)) kind |= HOLDS.preformatted;
  else if (name === 'table') kind |= HOLDS.table;
  else if (name === 'dt') kind |= HOLDS.term;
  return kind;
}

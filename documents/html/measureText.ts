import type { ParentNode } from 'domhandler';
import { HOLDS, isElement, isText, type PageElement, visibleLength } from './pageElement.js';
import { BLOCKS, CONTROLS, HEADINGS, LISTS, PREFORMATTED } from './tagSets.js';

export interface Measure {
  textLength: number;
  linkLength: number;
  links: number;
  holds: number;
}

/**
 * Measures the text below a node and stores the result on every element. Skipped elements count as empty. Recursion is
 * safe: buildTree limits the depth of the tree.
 */
export function measureText(node: ParentNode, leftOut: ReadonlySet<PageElement>, inLink = false): Measure {
  const sum: Measure = { textLength: 0, linkLength: 0, links: 0, holds: 0 };
  for (const child of node.children) {
    if (isText(child)) {
      const length = child.visibleLength;
      sum.textLength += length;
      if (inLink) sum.linkLength += length;
    } else if (isElement(child) && !leftOut.has(child)) {
      const isLink = child.name === 'a' && child.attribs['href'] !== undefined;
      const inner = measureText(child, leftOut, inLink || isLink);
      if (child.name === 'img') addLength(inner, visibleLength(child.attribs['alt'] ?? ''), inLink);
      child.textLength = inner.textLength;
      child.linkLength = inner.linkLength;
      child.links = inner.links;
      child.holds = inner.holds;
      addLength(sum, inner.textLength, false);
      sum.linkLength += inner.linkLength;
      sum.links += inner.links + (isLink && inner.textLength > 0 ? 1 : 0);
      sum.holds |= inner.holds | kindOf(child.name);
    }
  }
  return sum;
}

function addLength(measure: Measure, length: number, inLink: boolean): void {
  measure.textLength += length;
  if (inLink) measure.linkLength += length;
}

function kindOf(name: string): number {
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

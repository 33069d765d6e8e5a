import type { ChildNode, ParentNode } from 'domhandler';
import { linkShare } from './boilerplate.js';
import { HOLDS, isElement, isText, type PageElement } from './pageElement.js';
import { BLOCKS, CONTROLS, HEADINGS } from './tagSets.js';

/**
 * Finds unmarked menus and link bars: blocks of short links before the first real text of the page and after the last.
 * Link blocks in between are content (see-also lists, tables of contents), and so are blocks with a heading. Only for
 * measured trees without a main element. Finds nothing if that would remove half of the page or more.
 */
export function trimLinks(root: ParentNode, leftOut: ReadonlySet<PageElement>, pageLength: number): Set<PageElement> {
  const found = new Set<PageElement>();
  trim(root, 1, leftOut, found);
  trim(root, -1, leftOut, found);
  let length = 0;
  for (const element of found) length += element.textLength;
  return length * 2 < pageLength ? found : new Set();
}

/** Walks the children from one end; returns true once it meets text that ends the search. */
function trim(parent: ParentNode, step: 1 | -1, leftOut: ReadonlySet<PageElement>, found: Set<PageElement>): boolean {
  const runs = blocksAndLines(parent, leftOut);
  for (let i = step === 1 ? 0 : runs.length - 1; i >= 0 && i < runs.length; i += step) {
    const run = runs[i] ?? [];
    const [only] = run;
    if (only !== undefined && isElement(only) && isBlock(only)) {
      if (found.has(only)) continue;
      if (isLinkBar(only)) {
        // At the end of a page, a list of links under a heading is content.
        if (step === -1 && endsInHeading(runs[i - 1])) return true;
        found.add(only);
      } else if (HEADINGS.has(only.name) || !only.children.some((child) => isElement(child) && isBlock(child))) {
        if (isLoneLink(only)) continue;
        return true;
      } else if (trim(only, step, leftOut, found)) {
        return true;
      }
    } else {
      const line = measureLine(run);
      if (isLoneLink(line)) continue;
      if (line.links < 2 || linkShare(line) < 0.7) return true;
      for (const node of run) if (isElement(node)) found.add(node);
    }
  }
  return false;
}

/** Groups children as they appear: each block alone, text and inline elements between blocks together. */
function blocksAndLines(parent: ParentNode, leftOut: ReadonlySet<PageElement>): ChildNode[][] {
  const runs: ChildNode[][] = [];
  let line: ChildNode[] | null = null;
  for (const child of parent.children) {
    if (isElement(child) ? leftOut.has(child) || CONTROLS.has(child.name) || child.textLength === 0 : isBlank(child))
      continue;
    if (isElement(child) && isBlock(child)) {
      runs.push([child]);
      line = null;
    } else if (line === null) {
      line = [child];
      runs.push(line);
    } else {
      line.push(child);
    }
  }
  return runs;
}

function isBlock(element: PageElement): boolean {
  return BLOCKS.has(element.name) || (element.holds & HOLDS.block) !== 0;
}

function isBlank(node: ChildNode): boolean {
  return isElement(node) ? node.textLength === 0 : !isText(node) || node.visibleLength === 0;
}

/** Whether the part is a logo or a back link: it does not end the search, and is too small to remove. */
function isLoneLink(part: {
  readonly textLength: number;
  readonly linkLength: number;
  readonly links: number;
}): boolean {
  return part.links === 1 && part.textLength <= 40 && linkShare(part) >= 0.7;
}

function isLinkBar(block: PageElement): boolean {
  if (block.links < 2 || (block.holds & (HOLDS.heading | HOLDS.preformatted)) !== 0 || HEADINGS.has(block.name))
    return false;
  return linkShare(block) >= 0.65 && block.linkLength / block.links <= 30;
}

/** Whether the run ends with a heading, at any depth. */
function endsInHeading(run: readonly ChildNode[] | undefined): boolean {
  const last = run?.at(-1);
  if (last === undefined || !isElement(last)) return false;
  return HEADINGS.has(last.name) || endsInHeading(last.children.filter((child) => !isBlank(child)));
}

function measureLine(run: readonly ChildNode[]): { textLength: number; linkLength: number; links: number } {
  const sum = { textLength: 0, linkLength: 0, links: 0 };
  for (const node of run) {
    if (isText(node)) sum.textLength += node.visibleLength;
    else if (isElement(node)) {
      const isLink = node.name === 'a' && node.attribs['href'] !== undefined;
      sum.textLength += node.textLength;
      sum.linkLength += isLink ? node.textLength : node.linkLength;
      sum.links += isLink ? 1 : node.links;
    }
  }
  return sum;
}

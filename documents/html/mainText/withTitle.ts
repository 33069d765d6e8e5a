import type { Document, ParentNode } from 'domhandler';
import { eachElement, HOLDS, isElement, type PageElement } from '../pageElement.js';
import { isBlock } from './pageMeasures.js';

/**
 * Keeps the page's only top heading: restores it if it was removed alone, and puts it before the rest if it was removed
 * with a banner.
 * @param isOnce whether other blocks with the text of the heading are removed
 */
export function withTitle(root: Document, removed: Set<PageElement>, isOnce: boolean): readonly ParentNode[] {
  const headings: PageElement[] = [];
  eachElement(root, (element) => {
    if (element.name === 'h1' && element.textLength > 0) headings.push(element);
    return true;
  });
  const [heading] = headings;
  // A heading that is a link is the name of the site.
  if (heading === undefined || headings.length > 1 || heading.links > 0) return [root];
  removed.delete(heading);
  if (isOnce && heading.textLength >= MIN_TITLE) removeRepeatedTitle(root, heading, removed);
  return isLeftOut(heading, removed) ? [heading, root] : [root];
}

/** Minimum number of visible characters of a title that is compared: shorter texts repeat on purpose. */
const MIN_TITLE = 20;

/** A row of a table or of a list of terms stays whole. */
const CELL_TAGS = new Set(['td', 'th', 'dt', 'dd']);

/** Removes blocks that have the text of the title again: the end of a breadcrumb, the heading of a gallery. */
function removeRepeatedTitle(root: Document, title: PageElement, removed: Set<PageElement>): void {
  eachElement(root, (element) => {
    if (removed.has(element) || element.textLength < title.textLength) return false;
    const isSame = element.textLength === title.textLength && element.textHash === title.textHash;
    if (!isSame || element === title || (element.holds & HOLDS.topHeading) !== 0) return element !== title;
    if (isBlock(element) && !CELL_TAGS.has(element.name)) removed.add(element);
    return false;
  });
}

function isLeftOut(element: PageElement, removed: ReadonlySet<PageElement>): boolean {
  for (let node: ParentNode | null = element; node !== null; node = node.parent) {
    if (isElement(node) && removed.has(node)) return true;
  }
  return false;
}

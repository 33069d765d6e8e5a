import type { Document, ParentNode } from 'domhandler';
import { eachElement, isElement, type PageElement } from '../pageElement.js';

/**
 * Keeps the page's only top heading: restores it if it was removed alone, and puts it before the rest if it was removed
 * with a banner.
 */
export function withTitle(root: Document, removed: Set<PageElement>): readonly ParentNode[] {
  const headings: PageElement[] = [];
  eachElement(root, (element) => {
    if (element.name === 'h1' && element.textLength > 0) headings.push(element);
    return true;
  });
  const [heading] = headings;
  // A heading that is a link is the name of the site.
  if (heading === undefined || headings.length > 1 || heading.links > 0) return [root];
  removed.delete(heading);
  return isLeftOut(heading, removed) ? [heading, root] : [root];
}

function isLeftOut(element: PageElement, removed: ReadonlySet<PageElement>): boolean {
  for (let node: ParentNode | null = element; node !== null; node = node.parent) {
    if (isElement(node) && removed.has(node)) return true;
  }
  return false;
}

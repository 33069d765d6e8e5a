import type { Document, ParentNode } from 'domhandler';
import { eachElement, HOLDS, isElement, type PageElement } from './pageElement.js';

/** Prepends the page's only top heading to the main text if it is outside of it, often in a banner above. */
export function withTitle(
  root: Document,
  main: readonly ParentNode[],
  leftOut: ReadonlySet<PageElement>,
): readonly ParentNode[] {
  if (main.some((node) => isElement(node) && (node.holds & HOLDS.topHeading) !== 0)) return main;
  const headings: PageElement[] = [];
  eachElement(root, (element) => {
    if (leftOut.has(element)) return false;
    if (element.name === 'h1') headings.push(element);
    return true;
  });
  const [heading] = headings;
  // A heading that is a link is the name of the site.
  if (heading === undefined || headings.length > 1 || heading.links > 0 || heading.textLength === 0) return main;
  return [heading, ...main];
}

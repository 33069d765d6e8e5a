import type { Document, ParentNode } from 'domhandler';
import { isElement, isText, type PageElement } from '../../tree/pageElement.js';

/** Elements with a footer of their own, which can be content: the author of an article, the source of a quote. */
const FOOTER_OWNERS = new Set(['article', 'main', 'section', 'aside', 'blockquote', 'figure', 'li', 'td']);
/**
 * Footers are removed only if at least this many visible characters of the page, or at least this share of them, are
 * outside of the footers.
 */
const MIN_REST = 300;
const MIN_SHARE = 0.3;

/**
 * Removes the footers of the page. On some pages, the terms or lists of towns in the footer are the longest texts and
 * would count as the content.
 * @param removed the removed blocks; receives the footers
 */
export function removeFooters(root: Document, removed: Set<PageElement>): void {
  const footers: PageElement[] = [];
  const visit = (parent: ParentNode): void => {
    for (const child of parent.children) {
      if (!isElement(child) || child.textLength === 0 || removed.has(child)) continue;
      const { name, attribs } = child;
      if (name === 'footer' || attribs['role'] === 'contentinfo') footers.push(child);
      else if (!FOOTER_OWNERS.has(name) && attribs['role'] !== 'main') visit(child);
    }
  };
  visit(root);
  if (footers.length === 0) return;
  const total = lengthOf(root, removed);
  let remainingLength = total;
  for (const footer of footers) remainingLength -= lengthOf(footer, removed);
  if (remainingLength < MIN_REST && remainingLength < MIN_SHARE * total) return;
  for (const footer of footers) removed.add(footer);
}

/** Returns the number of visible characters below a node without the removed elements. */
export function lengthOf(parent: ParentNode, removed: ReadonlySet<PageElement>): number {
  let length = 0;
  for (const child of parent.children) {
    if (isText(child)) length += child.visibleLength;
    else if (isElement(child) && child.textLength > 0 && !removed.has(child))
      length += child.children.length === 0 ? child.textLength : lengthOf(child, removed);
  }
  return length;
}

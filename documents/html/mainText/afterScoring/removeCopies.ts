import type { ParentNode } from 'domhandler';
import { isElement, type PageElement } from '../../tree/pageElement.js';
import { isRowPart } from '../rowParts.js';

/** Minimum number of visible characters of a copy: shorter texts can repeat on purpose. */
const MIN_COPY = 200;
/** Maximum number of visible characters of a cell whose parts are kept: longer cells lay out a page. */
const MAX_CELL = 1000;
/** Factor for combining the hash and the length of a text in one number. */
const LENGTH_FACTOR = 2 ** 20;

/**
 * Removes blocks that have the same text as an earlier block that is kept in full: templates write some blocks once for
 * each screen width, and repeat slides of a carousel. Cells of a row, terms and numbered items stay: without them, the
 * next ones would be in another column, belong to another term, or have another number.
 * @param removed the removed blocks; receives the copies
 */
export function removeCopies(root: ParentNode, removed: Set<PageElement>): void {
  const seen = new Set<number>();
  /** @returns whether nothing in the element was removed */
  const visit = (parent: ParentNode, isKept: boolean): boolean => {
    let isIntact = true;
    for (const child of parent.children) {
      if (!isElement(child) || child.textLength === 0) continue;
      if (removed.has(child)) isIntact = false;
      if (child.textLength < MIN_COPY || removed.has(child)) continue;
      const key = child.textHash * LENGTH_FACTOR + child.textLength;
      // An only child has the text of its parent.
      const isWhole = isElement(parent) && parent.textHash === child.textHash && parent.textLength === child.textLength;
      const isPart = isElement(parent) && (isRowPart(child) || (child.name === 'li' && parent.name === 'ol'));
      if (!isWhole && !isKept && !isPart && seen.has(key)) {
        removed.add(child);
        isIntact = false;
      } else if (visit(child, isKept || (isPart && child.textLength <= MAX_CELL))) seen.add(key);
      else isIntact = false;
    }
    return isIntact;
  };
  visit(root, false);
}

import type { ParentNode } from 'domhandler';
import { isElement, type PageElement } from '../pageElement.js';

/** Minimum number of visible characters of a copy: shorter texts can repeat on purpose. */
const MIN_COPY = 200;
/** Factor that keeps hash and length of a text apart in one number. */
const LENGTHS = 2 ** 20;

/**
 * Removes blocks whose whole text is already in the page: templates write some blocks once for each width of a screen,
 * and slides again for the way around.
 * @param removed the blocks that are left out; gets the copies
 */
export function removeCopies(root: ParentNode, removed: Set<PageElement>): void {
  const seen = new Set<number>();
  const visit = (parent: ParentNode): void => {
    for (const child of parent.children) {
      if (!isElement(child) || child.textLength < MIN_COPY || removed.has(child)) continue;
      const isWhole = isElement(parent) && parent.textHash === child.textHash && parent.textLength === child.textLength;
      if (!isWhole) {
        const key = child.textHash * LENGTHS + child.textLength;
        if (seen.has(key)) {
          removed.add(child);
          continue;
        }
        seen.add(key);
      }
      visit(child);
    }
  };
  visit(root);
}

import { isElement, isText, type PageElement } from '../../tree/pageElement.js';
import type { PageMeasures } from '../pageMeasures.js';

/** Maximum number of characters of a breadcrumb below the title. */
const MAX_TRAIL = 200;

/**
 * Whether the element is the breadcrumb of a page of reference documentation, in a block with only the title:
 * `<div><h1>TITLE</h1><div><a>GROUP</a></div></div>`.
 */
export function isTitleTrail(element: PageElement, page: PageMeasures): boolean {
  const { name, parent, textLength, linkLength } = element;
  if (page.declared !== 'reference' || name !== 'div') return false;
  if (textLength > MAX_TRAIL || linkLength < 0.75 * textLength || parent === null || !isElement(parent)) return false;
  const [title, trail, more] = parent.children.filter((child) =>
    isElement(child) ? child.textLength > 0 : isText(child) && child.visibleLength > 0,
  );
  if (parent.name !== 'div' || trail !== element || more !== undefined) return false;
  return title !== undefined && isElement(title) && title.name === 'h1';
}

import { isElement, isText, type PageElement } from '../../pageElement.js';
import type { PageMeasures } from '../pageMeasures.js';

/** Maximum number of characters of a breadcrumb below the title. */
const MAX_TRAIL = 200;

/**
 * Whether the element is the breadcrumb of a page of reference documentation, in the block with its title:
 * `<div>TITLE<div><a>GROUP</a></div></div>` before the first heading.
 */
export function isTitleTrail(element: PageElement, start: number, page: PageMeasures): boolean {
  const { name, parent, textLength, linkLength } = element;
  if (page.declared !== 'reference' || start + textLength > page.headingAt || name !== 'div') return false;
  if (textLength > MAX_TRAIL || linkLength < 0.75 * textLength || parent === null || !isElement(parent)) return false;
  const [title, trail, more] = parent.children.filter((child) =>
    isElement(child) ? child.textLength > 0 : isText(child) && child.visibleLength > 0,
  );
  return parent.name === 'div' && title !== undefined && isText(title) && trail === element && more === undefined;
}

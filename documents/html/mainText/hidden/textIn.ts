import { isElement, type PageElement } from '../../tree/pageElement.js';

/** Returns the text of an element, without changes. Recursion is safe: buildTree limits the depth of the tree. */
export const textIn = (element: PageElement): string =>
  element.children.map((child) => ('data' in child ? child.data : isElement(child) ? textIn(child) : '')).join('');

import { HOLDS, isElement, type PageElement } from '../tree/pageElement.js';
import type { AuthorMark } from './authors.js';
import type { PostParts } from './readPost.js';

/**
 * Whether the element is an entry of a list of pages: one of its headings links to another page, which is not the page
 * of the entry's author.
 */
export function isTeaser({ element, authors }: PostParts): boolean {
  if ((element.holds & HOLDS.heading) === 0) return false;
  const visit = (parent: PageElement): boolean =>
    parent.children.some((child) => {
      if (!isElement(child)) return false;
      if (/^h[1-5]$/.test(child.name) && child.links > 0) return !leadsHere(child, authors);
      return (child.holds & HOLDS.heading) !== 0 && visit(child);
    });
  return visit(element);
}

/** Whether the links of a heading lead to the author, to a place in a page, or nowhere. */
function leadsHere(heading: PageElement, authors: readonly AuthorMark[]): boolean {
  const visit = (parent: PageElement): boolean =>
    parent.children.every((child) => {
      if (!isElement(child) || child.name !== 'a' || child.textLength === 0) return !isElement(child) || visit(child);
      if (authors.some(({ element, text }) => element === child || text === textIn(child))) return true;
      const href = child.attribs['href'] ?? '';
      return href === '' || href.includes('#');
    });
  return visit(heading);
}

const textIn = (element: PageElement): string =>
  element.children
    .map((child) => ('data' in child ? child.data : isElement(child) ? textIn(child) : ''))
    .join('')
    .trim();

import type { ChildNode } from 'domhandler';
import { isElement, isText, type PageElement } from '../../tree/pageElement.js';
import { HEADINGS } from '../../tree/tagSets.js';
import { textKey, type PageMeasures } from '../pageMeasures.js';

/** Minimum number of links of a table of contents: a single link can be a reference. */
const MIN_LINKS = 2;
/** Minimum share of the links in its text. The rest is numbers. */
const MIN_LINK_SHARE = 0.75;
/** The address before a fragment. */
const OWN_PLACE = /^(?:\.\/)?([^#]*)#/;
/** Elements that are part of a table or of a list, and stay as long as the whole does. */
const PARTS = new Set(['tr', 'td', 'th', 'li', 'dt', 'dd']);

/**
 * Whether the element is a table of contents of the page itself, on a page of reference documentation: each of its links
 * leads to a place in the page and has the text of a later title. The titles remain, so nothing is lost.
 */
export function isOwnContents(element: PageElement, start: number, page: PageMeasures): boolean {
  const { name, links, linkLength, textLength } = element;
  if (page.declared !== 'reference' || links < MIN_LINKS || linkLength < MIN_LINK_SHARE * textLength) return false;
  if (PARTS.has(name) || name === 'table' || page.coreAncestry.has(element)) return false;
  const found: PageElement[] = [];
  const isOnlyLinks = (nodes: readonly ChildNode[]): boolean =>
    nodes.every((node) => {
      if (isText(node)) return !/\p{L}/u.test(node.data);
      if (!isElement(node) || node.textLength === 0) return true;
      if (HEADINGS.has(node.name)) return false;
      if (node.name !== 'a') return isOnlyLinks(node.children);
      found.push(node);
      const [, address] = OWN_PLACE.exec(node.attribs['href'] ?? '') ?? [];
      return address === '' || (address !== undefined && address === page.fileName);
    });
  if (!isOnlyLinks(element.children)) return false;
  return found.every((link) => (page.titles.get(textKey(link)) ?? -1) >= start + textLength);
}

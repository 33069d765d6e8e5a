import { HOLDS, type PageElement } from '../pageElement.js';
import type { PageMeasures } from './pageMeasures.js';

const BOILERPLATE_TAGS = new Set(['nav', 'footer', 'aside']);
const BOILERPLATE_ROLES = new Set(['navigation', 'contentinfo', 'search', 'complementary']);
const BOILERPLATE_NAMES = new Set([
  'n:menu',
  'n:trail',
  'n:foot',
  'n:side',
  'n:legal',
  'n:search',
  'n:generated',
  'n:pages',
  'n:language',
  'n:logo',
]);
/** Parts of tables and lists: their names describe their style (`bottomAlign`). */
const TABLE_AND_LIST_TAGS = new Set(['tr', 'td', 'th', 'li', 'dt', 'dd']);

/**
 * Whether a block is part of reference documentation, regardless of its points. Generators mark menus and footers. All
 * else is content, in the main element if the page has one: references consist of short labels, tables of links and
 * single lines of text.
 */
export function isOfReference(element: PageElement, inMain: boolean, page: PageMeasures): boolean {
  if (page.declared !== 'reference' || (page.hasMain && !inMain)) return false;
  return !isBoilerplate(element, page);
}

/** Whether tag, role or names of an element indicate that it is not part of the documentation. */
function isBoilerplate(element: PageElement, page: PageMeasures): boolean {
  if (TABLE_AND_LIST_TAGS.has(element.name)) return false;
  if (BOILERPLATE_TAGS.has(element.name) || BOILERPLATE_ROLES.has(element.attribs['role'] ?? '')) return true;
  // `toggle` alone also names sections that a reader can open and close.
  const isSearch = (element.holds & HOLDS.control) !== 0;
  return page.names.read(element).some((name) => BOILERPLATE_NAMES.has(name) && (name !== 'n:search' || isSearch));
}

/**
 * Whether the element is a navigation part named by a generator, a bar of links before the first heading of reference
 * documentation, or the footer at its end.
 */
export function isReferenceBar(element: PageElement, start: number, page: PageMeasures): boolean {
  if (page.declared !== 'reference') return false;
  const { name, links, linkLength, textLength, proseLength, holds } = element;
  if (TABLE_AND_LIST_TAGS.has(name) || (holds & (HOLDS.heading | HOLDS.preformatted)) !== 0) return false;
  const names = page.names.read(element);
  if (names.includes('n:generated')) return true;
  // The bar of Boost is a table with a logo, which is text too.
  if (start + textLength <= page.headingAt)
    return links >= 3 && proseLength === 0 && linkLength >= (name === 'table' ? 0.5 : 0.75) * textLength;
  const isLast = start > page.headingAt && start + textLength >= 0.95 * page.textLength;
  return isLast && (name === 'footer' || names.includes('n:foot'));
}

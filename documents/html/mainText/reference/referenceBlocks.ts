import type { ChildNode } from 'domhandler';
import { HOLDS, isElement, isText, type PageElement } from '../../tree/pageElement.js';
import { HEADINGS } from '../../tree/tagSets.js';
import type { PageMeasures } from '../pageMeasures.js';

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
 * Whether a block is part of reference documentation and stays, whatever the rules that remove menus say about it:
 * references consist of short labels, tables of links and single lines of text, which look like menus to these rules.
 * Generators of documentation mark menus and footers; all other blocks are content. If the page has a main element,
 * only blocks in it are.
 */
export function isOfReference(element: PageElement, inMain: boolean, page: PageMeasures): boolean {
  if (page.declared !== 'reference' || (page.hasMain && !inMain)) return false;
  return !isBoilerplate(element, page);
}

/** Whether tag, role or names of an element indicate that it is not part of the documentation. */
function isBoilerplate(element: PageElement, page: PageMeasures): boolean {
  if (TABLE_AND_LIST_TAGS.has(element.name) || isAsideTitle(element) || element.children.some(isAsideTitle))
    return false;
  if (BOILERPLATE_TAGS.has(element.name) || BOILERPLATE_ROLES.has(element.attribs['role'] ?? '')) return true;
  // The name `toggle` counts as n:search. Sections that a reader can open and close also have it, so this name only
  // counts for an element that contains a control.
  const isSearch = (element.holds & HOLDS.control) !== 0;
  return page.names.read(element).some((name) => BOILERPLATE_NAMES.has(name) && (name !== 'n:search' || isSearch));
}

/** Whether the node is the title of a docutils sidebar: a note next to the text, which is content. */
function isAsideTitle(node: ChildNode): boolean {
  return isElement(node) && node.name === 'p' && node.attribs['class'] === 'sidebar-title';
}

/**
 * Whether the element is a navigation part named by a generator, a menu or a bar of links before the first heading of
 * reference documentation, a banner of the project, a table of the page's contents above the title, or the footer at the
 * end.
 */
export function isReferenceBar(element: PageElement, start: number, page: PageMeasures): boolean {
  if (page.declared !== 'reference') return false;
  const { name, links, linkLength, textLength, proseLength, holds } = element;
  if (start + textLength <= page.titleAt && isContents(element)) return true;
  if (isTopLink(element)) return true;
  // Doxygen's header with the name of the project, and everything before it, is a banner. The title of the page follows
  // below.
  if (start + textLength <= page.projectEnd) return true;
  if (TABLE_AND_LIST_TAGS.has(name) || (holds & (HOLDS.heading | HOLDS.preformatted)) !== 0) return false;
  const names = page.names.read(element);
  if (names.includes('n:generated')) return true;
  if (start + textLength <= page.headingAt) {
    if (proseLength > 0) return false;
    if (name === 'nav' || element.attribs['role'] === 'navigation') return true;
    if (isLinkBar(element, start + textLength <= page.titleAt)) return true;
    // On pages of Boost, the bar is a table with a logo, whose alternative text counts as text that is not a link.
    return links >= 3 && linkLength >= (name === 'table' ? 0.5 : 0.75) * textLength;
  }
  const isLast = start > page.headingAt && start + textLength >= 0.95 * page.textLength;
  return isLast && (name === 'footer' || names.includes('n:foot') || isFooterTable(element, page));
}

/** Maximum number of characters next to the footer in its table, such as the date of the last revision. */
const MAX_BESIDE_FOOTER = 60;

/** Whether the element is a table with a footer and at most one short line. */
function isFooterTable({ name, textLength, children }: PageElement, page: PageMeasures): boolean {
  const footerIn = (nodes: readonly ChildNode[]): PageElement | null => {
    for (const child of nodes) {
      if (!isElement(child)) continue;
      if (!TABLE_AND_LIST_TAGS.has(child.name) && page.names.read(child).includes('n:foot')) return child;
      const found = footerIn(child.children);
      if (found !== null) return found;
    }
    return null;
  };
  const footer = name === 'table' ? footerIn(children) : null;
  return footer !== null && textLength - footer.textLength <= MAX_BESIDE_FOOTER;
}

/** Whether the element is a line with only a link to the top of the page. */
function isTopLink({ name, textLength, linkLength, links, children }: PageElement): boolean {
  if ((name !== 'p' && name !== 'div') || links !== 1 || linkLength !== textLength) return false;
  return children.some((child) => isElement(child) && /^#(?:top)?$/.test(child.attribs['href'] ?? ''));
}

/**
 * Whether the element has only links, with signs between them. One of them leads to a place in the page, unless the
 * element is before the title.
 */
function isLinkBar({ links, children }: PageElement, isBeforeTitle: boolean): boolean {
  let jumps = isBeforeTitle;
  const visit = (nodes: readonly ChildNode[]): boolean =>
    nodes.every((child) => {
      if (isText(child)) return BETWEEN_LINKS.test(child.data);
      if (!isElement(child)) return true;
      if (child.name !== 'a') return visit(child.children);
      jumps ||= /^#./.test(child.attribs['href'] ?? '');
      return true;
    });
  return links > 0 && visit(children) && jumps;
}

const BETWEEN_LINKS = /^[\s|·•»/]*$/;

/** Whether the element is one heading and links that all lead to a place in the page. */
function isContents({ name, holds, links, linkLength, textLength, children }: PageElement): boolean {
  if (TABLE_AND_LIST_TAGS.has(name) || links === 0 || linkLength === textLength) return false;
  if ((holds & HOLDS.heading) === 0 || (holds & (HOLDS.topHeading | HOLDS.preformatted)) !== 0) return false;
  let headings = 0;
  const visit = (nodes: readonly ChildNode[]): boolean =>
    nodes.every((child) => {
      if (isText(child)) return child.visibleLength <= 0;
      if (!isElement(child) || child.textLength === 0) return true;
      if (HEADINGS.has(child.name)) headings += 1;
      else if (child.name !== 'a') return visit(child.children);
      else return (child.attribs['href'] ?? '').startsWith('#');
      return headings === 1;
    });
  return visit(children) && headings === 1;
}

import type { ChildNode } from 'domhandler';
import { HOLDS, isElement, isText, type PageElement } from '../pageElement.js';
import { previousElement } from '../listItems.js';
import { LISTS, PREFORMATTED } from '../tagSets.js';
import { isBlock, type PageMeasures } from './pageMeasures.js';

/** Whether the element is a paragraph or code without links, which is removed only with its container. */
export function isParagraph(element: PageElement): boolean {
  if (element.name === 'pre') return true;
  return element.name === 'p' && element.links === 0 && element.proseLength > 0.8 * element.textLength;
}

/**
 * Whether the element is a part of a sentence: an inline element, such as a link, directly before or after words. A
 * separator of a menu (`|`, `·`) is not a word.
 */
export function isInSentence(element: PageElement): boolean {
  return !isBlock(element) && (isWords(element.prev) || isWords(element.next));
}

const isWords = (node: ChildNode | null): boolean => node !== null && isText(node) && /[\p{L}\p{N}]/u.test(node.data);

/** Minimum number of links of a menu column that is not a cell of a table. */
const MIN_COLUMN_LINKS = 10;
/** Minimum number of characters of prose in the centre of a page with such a column: an index has only links. */
const MIN_COLUMN_PROSE = 200;

/** Whether the element is the menu column of a page: next to the centre of the page, or to an element around it. */
export function isMenuColumn(element: PageElement, page: PageMeasures): boolean {
  const { name, links, linkLength, textLength, parent } = element;
  if (links < 3 || linkLength < 0.9 * textLength) return false;
  if (parent === null || !page.coreAncestry.has(parent) || page.coreAncestry.has(element)) return false;
  if (name === 'td') return true;
  if (!isElement(parent) || parent.name === 'body' || parent === page.core || page.shapes.includes('code'))
    return false;
  // Cards of products have pictures. They can be the content of a page next to a long description.
  const isPlain = element.proseLength === 0 && element.images === 0 && (element.holds & HOLDS.topHeading) === 0;
  return (
    isPlain &&
    links >= MIN_COLUMN_LINKS &&
    page.declared !== 'reference' &&
    isElement(page.core) &&
    page.core.proseLength >= MIN_COLUMN_PROSE
  );
}

/** Maximum number of characters of a bar, which may contain the titles of the neighbouring chapters. */
const MAX_BAR_LENGTH = 600;

/**
 * Whether the element is a bar of links to the neighbouring pages, or the line that names the generator. Both are
 * recognised by published markup: names of generators, `rel` and `accesskey` of links.
 */
export function isBar(element: PageElement, start: number, page: PageMeasures): boolean {
  const { links, textLength, proseLength } = element;
  if (textLength > MAX_BAR_LENGTH || page.coreAncestry.has(element)) return false;
  if (links > 0 && page.names.read(element).includes('n:generated')) return true;
  if (proseLength > 0) return false;
  if (
    textLength >= MIN_GENERATOR_LENGTH &&
    textLength <= MAX_GENERATOR_LENGTH &&
    start > 0.7 * page.textLength &&
    start >= page.proseEnd &&
    !isOfDefinition(element) &&
    isGeneratorLine(textIn(element), links)
  )
    return true;
  return links >= 2 && textLength <= MAX_NEIGHBOURS_LENGTH && linksToNeighbours(element);
}

/** Minimum and maximum number of visible characters of a line that names the generator. */
const MIN_GENERATOR_LENGTH = 10;
const MAX_GENERATOR_LENGTH = 120;
const GENERATOR =
  /^(.{0,100}[\s,(]|)(?:(?<!\b(?:be|been) )(?:generated|created|produced) (?:by|using|with)|(?:built|powered) (?:using|with))\s+\S/i;

/** Whether the element is or has a definition, which can say by which function a value is created. */
function isOfDefinition({ name, holds, parent }: PageElement): boolean {
  return name === 'dd' || (holds & HOLDS.term) !== 0 || (parent !== null && isElement(parent) && parent.name === 'dd');
}

/** Whether a text names a program that wrote the page: by a link or a name, not by a word such as in "by the server". */
function isGeneratorLine(text: string, links: number): boolean {
  const [line, before = ''] = GENERATOR.exec(text) ?? [];
  if (line === undefined) return false;
  return before === '' || links > 0 || /^(?:the |a )?[^a-z]/.test(text.slice(line.length - 1));
}

/** Maximum number of characters of a bar without a name of a generator. */
const MAX_NEIGHBOURS_LENGTH = 200;

/** Whether links are a large part of the text of an element, and some lead to the next or previous page. */
function linksToNeighbours(element: PageElement): boolean {
  if (element.linkLength < 0.4 * element.textLength) return false;
  const visit = (parent: PageElement): boolean =>
    parent.children.some((child) => {
      if (!isElement(child)) return false;
      const { name, attribs, links } = child;
      if (name === 'a')
        return NEIGHBOUR_REL.test(attribs['rel'] ?? '') || NEIGHBOUR_KEY.test(attribs['accesskey'] ?? '');
      return links > 0 && visit(child);
    });
  return visit(element);
}

const NEIGHBOUR_REL = /(?:^|\s)(?:next|prev|previous|up)(?:\s|$)/i;
const NEIGHBOUR_KEY = /^[npu]$/i;

/**
 * Whether the element shows code: a short synopsis counts as much as a long text. Outside of the centre of the page,
 * the element must contain little more than the code.
 */
export function keepsCode(element: PageElement, inCore: boolean): boolean {
  if ((element.holds & HOLDS.preformatted) === 0 || element.linkLength >= 0.5 * element.textLength) return false;
  return inCore || codeIn(element) >= 0.8 * element.textLength;
}

/** Returns the number of characters of preformatted text in an element. */
function codeIn(element: PageElement): number {
  let length = 0;
  for (const child of element.children) {
    if (!isElement(child)) continue;
    if (PREFORMATTED.has(child.name)) length += child.textLength;
    else if ((child.holds & HOLDS.preformatted) !== 0) length += codeIn(child);
  }
  return length;
}

/**
 * Whether the element is a data table in the centre of a page, whose rows stay together: it has header cells, or the
 * page shows code and each row has several cells, as in summaries of functions.
 */
export function isDataTable(element: PageElement, inCore: boolean, page: PageMeasures): boolean {
  if (!inCore || element.name !== 'table') return false;
  if ((element.holds & (HOLDS.table | HOLDS.preformatted | HOLDS.control | HOLDS.heading)) !== 0) return false;
  const isShop = page.shapes.includes('shop') || page.shapes.includes('cards');
  if (!isShop && element.linkLength <= 0.8 * element.textLength && holdsLabels(element)) return true;
  return page.shapes.includes('code') && isGrid(element);
}

/** Minimum number of rows of a data table without header cells. */
const MIN_ROWS = 2;

/** Whether each row has at least two cells. */
function isGrid(table: PageElement): boolean {
  let rows = 0;
  const visit = (parent: PageElement): boolean =>
    parent.children.every((child) => {
      if (!isElement(child) || child.textLength === 0) return true;
      if (child.name !== 'tr') return visit(child);
      rows += 1;
      return child.children.filter((cell) => isElement(cell) && cell.name === 'td').length >= 2;
    });
  return visit(table) && rows >= MIN_ROWS;
}

function holdsLabels(element: PageElement): boolean {
  return element.children.some(
    (child) => isElement(child) && (child.name === 'th' || (child.name !== 'td' && holdsLabels(child))),
  );
}

/** Whether the element is a list that the paragraph before it announces. */
export function isAnnounced(element: PageElement, inCore: boolean): boolean {
  if (!inCore || (element.name !== 'ul' && element.name !== 'ol') || element.linkLength > 0.4 * element.textLength)
    return false;
  const before = previousElement(element);
  return before !== null && before.name === 'p' && isAnnouncement(before);
}

/**
 * Whether the element is a line in the centre of a page that announces the paragraph, list or code after it, such as the
 * name of an option (`<p><a href>site_url</a>:</p>`).
 */
export function isAnnouncing(element: PageElement, inCore: boolean): boolean {
  if (!inCore || element.name !== 'p' || !isAnnouncement(element)) return false;
  let next = element.next;
  while (next !== null && isText(next) && next.visibleLength <= 0) next = next.next;
  return next !== null && isElement(next) && next.textLength > 0 && ANNOUNCED_TAGS.has(next.name);
}

const ANNOUNCED_TAGS = new Set(['p', 'dl', ...LISTS, ...PREFORMATTED]);

/** Whether the text of the element ends with a colon. */
export function isAnnouncement(element: PageElement): boolean {
  return element.textLength > 0 && ENDS_WITH_COLON.test(lastTextIn(element));
}

const ENDS_WITH_COLON = /[:：]\s*$/;

/** Returns the last visible text in an element; '' if it has none. */
function lastTextIn(element: PageElement): string {
  for (let child = element.lastChild; child !== null; child = child.prev) {
    if (isText(child) && child.visibleLength > 0) return child.data;
    const text = isElement(child) && child.textLength > 0 ? lastTextIn(child) : '';
    if (text !== '') return text;
  }
  return '';
}

/** Minimum number of links, and minimum share of links in the text, of the menu of a page without a title. */
const MIN_MENU_LINKS = 10;
const MIN_MENU_SHARE = 0.8;

/** Whether the element is the menu of a page that comes before its title, or before its text if it has no h1. */
export function isMenu(element: PageElement, start: number, page: PageMeasures): boolean {
  if (element.name !== 'nav' || element.proseLength > 0 || (element.holds & HOLDS.topHeading) !== 0) return false;
  const end = start + element.textLength;
  if (page.titleAt >= 0) return end <= page.titleAt;
  const isLinks = element.links >= MIN_MENU_LINKS && element.linkLength >= MIN_MENU_SHARE * element.textLength;
  return isLinks && end <= page.coreEnd;
}

/** Maximum number of characters of a label. */
const MAX_LABEL_LENGTH = 30;

/** Whether only a label remains of an element, such as "Table of Contents" without the list. */
export function isOnlyLabel(element: PageElement, removed: ReadonlySet<PageElement>): boolean {
  if (element.proseLength > 0 || element.textLength <= MAX_LABEL_LENGTH) return false;
  let remainingLength = element.textLength;
  for (const child of element.children) if (isElement(child) && removed.has(child)) remainingLength -= child.textLength;
  return remainingLength > 0 && remainingLength <= MAX_LABEL_LENGTH && remainingLength <= 0.2 * element.textLength;
}

function textIn(element: PageElement): string {
  let text = '';
  for (const child of element.children) {
    if (isText(child)) text += child.data;
    else if (isElement(child)) text += textIn(child);
  }
  return text.replaceAll(/\s+/g, ' ').trimStart();
}

/** Whether the element has footnotes, which are short, last and full of links like a footer. */
export function isFootnotes(element: PageElement, page: PageMeasures): boolean {
  return (element.attribs['role'] ?? '').startsWith('doc-') || page.names.read(element).includes('n:notes');
}

import type { Document } from 'domhandler';
import { eachElement, HOLDS, isElement, type PageElement } from '../pageElement.js';
import { HEADINGS } from '../tagSets.js';

/**
 * Finds elements that are not shown or are not text: hidden elements, closed dialogs, permalinks,
 * search forms, and buttons outside of titles.
 */
export function findHidden(root: Document, pageLength: number): Set<PageElement> {
  const found = new Set<PageElement>();
  eachElement(root, (element) => {
    if (ALWAYS_KEPT.has(element.name)) return true;
    if (!isHidden(element, pageLength) && !isPermalink(element) && !isButton(element) && !isSearch(element))
      return true;
    found.add(element);
    return false;
  });
  return found;
}

const ALWAYS_KEPT = new Set(['html', 'body', 'head', 'main', 'article']);

function isHidden(element: PageElement, pageLength: number): boolean {
  const { attribs } = element;
  const hidden =
    (attribs['hidden'] !== undefined && attribs['hidden'] !== 'until-found') ||
    attribs['aria-hidden'] === 'true' ||
    (element.name === 'dialog' && attribs['open'] === undefined) ||
    (attribs['style'] !== undefined &&
      /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attribs['style']));
  // Pages that a script reveals hide everything at first.
  return hidden && element.textLength < pageLength / 2;
}

function isButton(element: PageElement): boolean {
  return element.name === 'button' && !isTitle(element.parent) && !isTitle(element.parent?.parent ?? null);
}

/** Maximum number of characters of a form that is only a field with its label. */
const FIELD_LENGTH = 40;

/** Whether the element is a search box. Other forms hold content: products, and whole pages of some servers. */
function isSearch(element: PageElement): boolean {
  if (element.name === 'search' || element.attribs['role'] === 'search') return true;
  return element.name === 'form' && (element.holds & HOLDS.control) !== 0 && element.textLength < FIELD_LENGTH;
}

const TITLES = new Set([...HEADINGS, 'dt', 'summary', 'th']);

function isTitle(node: PageElement['parent']): boolean {
  return node !== null && isElement(node) && TITLES.has(node.name);
}

/** Signs of permalinks, and icon fonts, whose letters are in the private use area. */
const PERMALINK = /^\s*(?:[¶#§🔗∞↩\uE000-\uF8FF]+\s*)?$/u;

/**
 * Whether the element is the sign next to a heading that links to the heading itself. Other short links to a place in
 * the page are footnotes.
 */
function isPermalink(element: PageElement): boolean {
  if (element.name !== 'a' || element.textLength > 2 || element.textLength === 0) return false;
  if (!(element.attribs['href'] ?? '').includes('#')) return false;
  const only = element.children[0];
  return element.children.length === 1 && only !== undefined && 'data' in only && PERMALINK.test(only.data);
}

import type { ChildNode } from 'domhandler';
import { isElement, isText, type PageElement } from '../../tree/pageElement.js';
import { HEADINGS } from '../../tree/tagSets.js';
import { isAnnouncement } from '../knownBlocks.js';

const EMPHASIS = new Set(['b', 'em', 'i', 'strong', 'u']);

/**
 * Whether the element is a paragraph of links that only points to other pages: it is all bold, italic or underlined, or
 * next to another paragraph of links. After a heading or a colon, a row of such paragraphs is part of the article.
 */
export function isPointer(element: PageElement): boolean {
  if (!isLinkParagraph(element)) return false;
  return element.children.every((child) => isEmphasis(child) || isBlank(child)) || isInRow(element);
}

/** Minimum share of links in the text of a paragraph. */
const MIN_LINKS = 0.9;

function isLinkParagraph(node: ChildNode | null): boolean {
  return (
    node !== null &&
    isElement(node) &&
    node.name === 'p' &&
    node.links > 0 &&
    node.linkLength >= MIN_LINKS * node.textLength
  );
}

const isEmphasis = (node: ChildNode): boolean => isElement(node) && EMPHASIS.has(node.name);
const isBlank = (node: ChildNode): boolean => !isElement(node) && !(isText(node) && node.visibleLength > 0);

function isInRow(element: PageElement): boolean {
  if (!isLinkParagraph(beside(element, 'prev')) && !isLinkParagraph(beside(element, 'next'))) return false;
  return !isAnnounced(element);
}

/** Cached results for the paragraphs of rows, so that a row of any length is walked once. */
const announced = new WeakMap<ChildNode, boolean>();

/** Whether the row of link paragraphs that contains the element follows a heading or a colon. */
function isAnnounced(element: PageElement): boolean {
  let before = beside(element, 'prev');
  let result: boolean | undefined;
  while (before !== null && isLinkParagraph(before) && result === undefined) {
    result = announced.get(before);
    before = beside(before, 'prev');
  }
  result ??= before !== null && isElement(before) && (HEADINGS.has(before.name) || isAnnouncement(before));
  announced.set(element, result);
  return result;
}

/** Returns the nearest sibling on one side that is an element or has text. */
function beside(node: ChildNode, side: 'prev' | 'next'): ChildNode | null {
  let sibling = node[side];
  while (sibling !== null && isBlank(sibling)) sibling = sibling[side];
  return sibling;
}

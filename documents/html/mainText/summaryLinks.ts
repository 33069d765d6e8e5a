import type { ChildNode } from 'domhandler';
import { eachElement, isElement, isText, type PageElement } from '../tree/pageElement.js';

/** Minimum and maximum number of visible characters of the label of a link at the end of a summary. */
const MIN_LABEL_LENGTH = 4;
const MAX_LABEL_LENGTH = 16;

/**
 * Whether the element is the link at the end of a summary that leads to the full text: `Opens a gate. More...`. Its
 * label ends with an ellipsis, or it leads to the same address as a link in the title above it. On pages of reference
 * documentation, such a link can be the only text of its paragraph. On other pages, a link alone in its paragraph could
 * be a name.
 * @param title the last heading before the element; null without one
 */
export function isSummaryLink(element: PageElement, title: PageElement | null, isReference: boolean): boolean {
  const { name, attribs, textLength, children } = element;
  const href = attribs['href'];
  if (name !== 'a' || href === undefined || textLength < MIN_LABEL_LENGTH || textLength > MAX_LABEL_LENGTH)
    return false;
  const [label] = children;
  if (children.length !== 1 || label === undefined || !isText(label)) return false;
  if (!WORDS.test(label.data) || siblingText(element, 'next') !== null) return false;
  const before = siblingText(element, 'prev');
  const isAtEnd = before !== null && isText(before) && SENTENCE_END.test(before.data);
  if (isAtEnd && ELLIPSIS.test(label.data)) return true;
  if (title === null || !leadsTo(title, href, element.textHash)) return false;
  if (isAtEnd || !isReference || before !== null) return isAtEnd;
  return isElement(element.parent) && PARAGRAPHS.has(element.parent.name);
}

/** Words without signs of code. */
const WORDS = /^\s*\p{L}[\p{L}\s]+(?:\.{3}|…)?\s*$/u;
const ELLIPSIS = /(?:\.{3}|…)\s*$/;
/** The end of a sentence. A dot without a space after it is a part of a name: `java.lang.<a>Object</a>`. */
const SENTENCE_END = /[.!?]\s+$|[。！？]\s*$/;

const PARAGRAPHS = new Set(['p', 'div']);

/** Returns the nearest sibling with text in one direction, or null. */
function siblingText(element: PageElement, direction: 'prev' | 'next'): ChildNode | null {
  let node = element[direction];
  while (node !== null && !isVisible(node)) node = node[direction];
  return node;
}

function isVisible(node: ChildNode): boolean {
  return isElement(node) ? node.textLength > 0 : isText(node) && node.visibleLength > 0;
}

/**
 * Whether a link in a title leads to an address. A link whose text equals the label does not count: then the label
 * repeats the title.
 */
function leadsTo(title: PageElement, href: string, labelHash: number): boolean {
  let found = false;
  eachElement(title, ({ name, attribs, textHash }) => {
    found ||= name === 'a' && attribs['href'] === href && textHash !== labelHash;
    return !found;
  });
  return found;
}

/** Words that only style sheets or signs separate. */
import type { ChildNode } from 'domhandler';
import { isElement, type PageElement } from '../tree/pageElement.js';

/** Whether an inline element is a word apart from the element before it, although no space is between them. */
export function isSeparateWord(element: PageElement): boolean {
  const { prev } = element;
  return isStyledApart(element) && isElement(prev) && isStyledApart(prev) && !continuesName(prev, element);
}

/** Whether a text is only a sign between its neighbour and an omitted element: `1.0.0 · [source]`. */
export function isLooseSeparator(
  node: ChildNode & { readonly data: string },
  leftOut: ReadonlySet<PageElement>,
): boolean {
  if (node.data.length > MAX_SEPARATOR_LENGTH || !SEPARATOR.test(node.data)) return false;
  const isOut = (other: ChildNode | null): boolean => other !== null && isElement(other) && leftOut.has(other);
  return isOut(node.next) || (isOut(node.prev) && node.prev?.prev === null);
}

const MAX_SEPARATOR_LENGTH = 5;
const SEPARATOR = /^\s*[·|•]\s*$/;

/**
 * Whether style sheets probably separate the element from its neighbour: a link, the label of a field, or a span with a
 * class, as in lists of properties (`<span class=year>2026</span><span class=length>2 h</span>`). False for a single
 * letter, which may be the decorated first letter of a word.
 */
function isStyledApart({ name, attribs, textLength }: PageElement): boolean {
  return textLength > 1 && (name === 'a' || name === 'label' || (name === 'span' && attribs['class'] !== undefined));
}

/** Whether two parts of a term are a qualified name: `<dt><span>signal.</span><span>SIGINT</span>`. */
function continuesName(before: PageElement, element: PageElement): boolean {
  const { parent } = element;
  if (parent === null || !isElement(parent) || parent.name !== 'dt') return false;
  return QUALIFIER.test(shallowTextOf(before)) && /^[\p{L}_]/u.test(shallowTextOf(element));
}

/**
 * A word before a dot or two colons (`signal.`, `std::`). A number before a dot does not match: it is the number of an
 * item.
 */
const QUALIFIER = /^\S*[\p{L}_]\S*(?:\.|::)$/u;

/** Returns the text of an element's children and of their children; deeper text is omitted. */
export const shallowTextOf = (element: PageElement): string => element.children.map(shallowText).join('');

function shallowText(node: ChildNode): string {
  if ('data' in node) return node.data;
  return isElement(node) ? node.children.map((child) => ('data' in child ? child.data : '')).join('') : '';
}

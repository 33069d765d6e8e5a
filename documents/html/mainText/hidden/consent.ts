import type { ChildNode } from 'domhandler';
import { eachElement, HOLDS, isElement, type PageElement } from '../../tree/pageElement.js';
import { HEADINGS } from '../../tree/tagSets.js';
import { textIn } from './textIn.js';

/** Words for a bar or dialog next to a word for consent. */
const DIALOG =
  /(?:cookie|consent|gdpr|privacy)[a-z]*[_-]?(?:banner|notice|bar|popup|modal|dialog|overlay|manager|preferences?|settings|wall|layer)(?![a-z])/i;
/** Ids of widespread programs that ask for consent. */
const PROGRAM =
  /onetrust|cybotcookiebot|didomi|usercentrics|qc-cmp2|sp_message_container|cmpbox|iubenda-cs|trustarc|truste-|ccc-notify/i;

/** Whether a class or an id is that of a dialog that asks for consent to cookies. */
export const isConsentName = (name: string): boolean => DIALOG.test(name) || PROGRAM.test(name);

/**
 * Whether an element with the name of a consent dialog is a text about consent: a heading, or a part whose id a
 * generator made from the part's first heading, or a part whose first heading is an h1 and for which `isOnlyTop` is
 * true. A part with buttons or fields, with the role of a dialog or with a name of PROGRAM is a dialog.
 */
export function isSection(element: PageElement): boolean {
  if (HEADINGS.has(element.name)) return true;
  if ((element.holds & HOLDS.control) !== 0 || element.attribs['role']?.endsWith('dialog') === true) return false;
  if (PROGRAM.test(`${element.attribs['id'] ?? ''} ${element.attribs['class'] ?? ''}`)) return false;
  const heading = (element.holds & HOLDS.heading) === 0 ? null : firstHeading(element);
  if (heading === null) return false;
  const slug = textIn(heading)
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.join('-');
  return slug === element.attribs['id']?.toLowerCase() || (heading.name === 'h1' && isOnlyTop(element));
}

function firstHeading(element: PageElement): PageElement | null {
  let first: PageElement | null = null;
  eachElement(element, (inner) => {
    if (first === null && HEADINGS.has(inner.name)) first = inner;
    return first === null;
  });
  return first;
}

/**
 * Whether no sibling of this element or of an element that contains it is a main element, is a top heading (h1), or
 * contains one.
 */
function isOnlyTop(element: PageElement): boolean {
  const isTop = (node: ChildNode): boolean =>
    isElement(node) && (node.name === 'h1' || node.name === 'main' || (node.holds & HOLDS.topHeading) !== 0);
  for (let node: PageElement['parent'] = element; node?.parent; node = node.parent) {
    if (node.parent.children.some((other) => other !== node && isTop(other))) return false;
  }
  return true;
}

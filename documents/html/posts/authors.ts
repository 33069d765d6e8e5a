import { isElement, type PageElement } from '../tree/pageElement.js';
import { isDateText, shortText } from './dates.js';

/** The place where a post names its author, and the form of the name. */
export interface AuthorMark {
  /** The element with the name; null if it is in an attribute of the post. */
  readonly element: PageElement | null;
  readonly text: string;
  /** Rank of the evidence; 0 is the best. */
  readonly rank: 0 | 1 | 2 | 3 | 4;
}

/** Maximum number of characters of a name. */
const MAX_NAME_LENGTH = 40;

/** Words in class names for a person; generators use these English words for sites in every language. */
const PERSON_CLASS =
  /(?:^|[\s_-])(?:author|username|userlink|user|poster|nick|nickname|byline|fn|hnuser|person|creator|commenter|member|bigusername)(?:$|[\s_-])/;
/** Parts of URLs of personal pages. */
const PERSON_ADDRESS =
  /(?:^|[/?&.=_-])(?:u|user|users|member|members|memberlist|profile|profiles|people|author|authors|userinfo|account)(?:$|[/?&.=_-])|\/@|mailto:/i;

/** Returns the author named in the attributes of a post, which some generators write for their scripts. */
export function authorOfAttributes({ attribs }: PageElement): AuthorMark | null {
  const text = attribs['data-author'] ?? attribs['data-username'] ?? attribs['author'] ?? '';
  return isName(text) ? { element: null, text: text.trim(), rank: 0 } : null;
}

/** Returns the author that an element names; null if it names none. */
export function readAuthor(element: PageElement): AuthorMark | null {
  const { attribs, name, textLength } = element;
  const property = attribs['itemprop'];
  if (property === 'author' || property === 'creator' || /(?:^|\s)author(?:\s|$)/.test(attribs['rel'] ?? '')) {
    const inner = nameInside(element);
    if (inner !== null) return { ...inner, rank: 1 };
  }
  if (textLength === 0 || textLength > 4 * MAX_NAME_LENGTH) return null;
  const classes = attribs['class'];
  if (classes !== undefined && namesPerson(classes)) {
    const inner = nameInside(element);
    if (inner !== null) return { ...inner, rank: 2 };
  }
  if (textLength > MAX_NAME_LENGTH) return null;
  const isLink = name === 'a';
  const text = isLink || name === 'strong' || name === 'b' || name === 'dt' ? shortText(element) : '';
  if (!isName(text)) return null;
  if (isLink && PERSON_ADDRESS.test(attribs['href'] ?? '')) return { element, text, rank: 3 };
  return isLink ? null : { element, text, rank: 4 };
}

const namesPerson = (classes: string): boolean =>
  PERSON_CLASS.test(classes.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase());

/** Returns the name in an element for the author: the part marked as the name, else a link, else the whole text. */
function nameInside(element: PageElement): { readonly element: PageElement; readonly text: string } | null {
  let link: PageElement | null = null;
  let namedElement: PageElement | null = null;
  const visit = (parent: PageElement): void => {
    for (const child of parent.children) {
      if (!isElement(child) || namedElement !== null) continue;
      if (child.attribs['itemprop'] === 'name' && isName(nameOf(child))) namedElement = child;
      if (link === null && (child.name === 'a' || child.name === 'b') && isName(shortText(child))) link = child;
      visit(child);
    }
  };
  visit(element);
  // The marked name may be in a meta element, which is not shown. The link or bold element with the
  // shown name is then returned, so that this name is removed from the text of the post.
  for (const candidate of [namedElement, link, element]) {
    const text = candidate === null ? '' : nameOf(candidate);
    if (candidate !== null && isName(text)) return { element: link ?? candidate, text };
  }
  return null;
}

const nameOf = (element: PageElement): string =>
  element.name === 'meta' ? (element.attribs['content'] ?? '') : shortText(element);

/** Whether a text can be a name: short, with a letter or a digit, and not a label, a number or a date. */
function isName(text: string): boolean {
  const name = text.trim();
  return (
    name.length > 0 &&
    name.length <= MAX_NAME_LENGTH &&
    /[\p{L}\p{N}]/u.test(name) &&
    !/[:：]$|^#?\d+$/.test(name) &&
    !isDateText(name)
  );
}

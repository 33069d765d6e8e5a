import { isElement, type PageElement } from '../tree/pageElement.js';
import { type AuthorMark, authorOfAttributes, readAuthor } from './authors.js';
import { type DateMark, readDate } from './dates.js';

/** The parts found in an element that may be a post. */
export interface PostParts {
  readonly element: PageElement;
  /** Candidates for the author in document order, at most one of each rank. */
  readonly authors: readonly AuthorMark[];
  /** Candidates for the date in document order; none if the post states no date. */
  readonly dates: readonly DateMark[];
  /** Further elements with the name of an author, such as a second link to the author's page. */
  readonly copies: readonly PageElement[];
}

/** Maximum number of elements of a post that are searched for its author and its date. */
const MAX_SEARCHED = 400;
/** Elements whose contents are the author's text. */
const CONTENT_TAGS = new Set(['blockquote', 'pre', 'table', 'figure']);

/**
 * Searches an element for an author and a date, outside of running text and of other posts.
 * @param isOther whether an element is another post
 * @returns null without an author
 */
export function readPost(element: PageElement, isOther: (inner: PageElement) => boolean): PostParts | null {
  const authors: AuthorMark[] = [];
  const declaredAuthor = authorOfAttributes(element);
  if (declaredAuthor !== null) authors.push(declaredAuthor);
  const dates: DateMark[] = [];
  const copies: PageElement[] = [];
  let searched = 0;
  const visit = (parent: PageElement): void => {
    const found = readDate(parent);
    if (found !== null) dates.push(found);
    for (const child of parent.children) {
      if (!isElement(child) || isOther(child) || ++searched > MAX_SEARCHED) continue;
      const author = readAuthor(child);
      if (author !== null && author.element !== null) {
        if (!authors.some(({ rank }) => rank === author.rank)) authors.push(author);
        else if (authors.some(({ text }) => text === author.text)) copies.push(author.element);
      }
      if (isProse(child) || (CONTENT_TAGS.has(child.name) && element.name !== 'table' && child.name !== 'table'))
        continue;
      visit(child);
    }
  };
  visit(element);
  return authors.length === 0 ? null : { element, authors, dates, copies };
}

/** Whether the element is a paragraph of running text. */
function isProse(element: PageElement): boolean {
  return element.proseLength > 0 && (element.name === 'p' || element.blocks === 0) && element.name !== 'td';
}

/**
 * Returns the best date: of the most reliable kind; with the fewest words, because the date of an edit also contains
 * the name of the editor; and the nearest to the author.
 */
export function chooseDate(dates: readonly DateMark[], author: AuthorMark): DateMark | null {
  const cost = ({ rank, text, element }: DateMark): readonly number[] => [
    rank,
    rank === 2 ? (text.match(/\p{L}+/gu) ?? []).length : 0,
    rank === 2 || author.element === null ? 0 : -sharedDepth(element, author.element),
  ];
  const [best] = dates
    .map((date) => ({ date, cost: cost(date) }))
    .toSorted((a, b) => a.cost.map((value, i) => value - (b.cost[i] ?? 0)).find((difference) => difference !== 0) ?? 0);
  return best?.date ?? null;
}

/** Returns the depth of the smallest element around both. */
function sharedDepth(element: PageElement, other: PageElement): number {
  const ancestors = new Set<PageElement>();
  for (let node: PageElement['parent'] = element; isElement(node); node = node.parent) ancestors.add(node);
  let depth = 0;
  let isShared = false;
  for (let node: PageElement['parent'] = other; isElement(node); node = node.parent) {
    isShared ||= ancestors.has(node);
    if (isShared) depth += 1;
  }
  return depth;
}

import type { ParentNode } from 'domhandler';
import { HOLDS, isElement, type PageElement } from '../../tree/pageElement.js';
import { isBlock, type PageMeasures } from '../pageMeasures.js';
import { isTeaserList } from './teasers.js';

/** Minimum share of an element's prose in one child for the search to continue in the child. */
const MIN_SHARE = 0.7;
/**
 * Once this many characters of prose follow the title, an element whose class or id names another purpose is not the
 * article. An article has at least as many.
 */
const MIN_READ = 200;
/**
 * Once this many characters of prose follow the title, a list of teasers or a further `article` element is not the
 * article. Neither is recognised by its class or id.
 */
const MIN_ARTICLE = 400;
/**
 * Maximum share of the page's prose in an element that is not the article. A larger one may be the article itself,
 * unless it is a menu, a list of other pages or comments.
 */
const MAX_SHARE = 0.8;

const OTHER_TAGS = new Set(['aside', 'footer', 'dialog']);
const OTHER_NAMES = new Set(['n:related', 'n:overlay', 'n:side', 'n:signup']);

/**
 * Returns the smallest element with most of the prose of the article on a page that declares one. Comments, dialogs,
 * sidebars, lists of other pages and further articles do not count, because they are often longer than the article. The
 * article itself is recognised by its place: it is the first text below the title.
 * @param around the posts of a thread and the elements that contain them, which count as the article
 * @param removed blocks that are known not to be content
 */
export function findArticleBody(
  root: ParentNode,
  page: PageMeasures,
  around: ReadonlySet<ParentNode>,
  removed: ReadonlySet<PageElement>,
): ParentNode {
  /** The prose of each element, without removed elements and those for which isOther() is true. */
  const prose = new Map<ParentNode, number>();
  const total = page.proseLength - proseOf(removed);
  /** Number of characters of prose since the title. */
  let read = 0;
  let hasArticle = false;

  const isOther = (element: PageElement): boolean => {
    const { name, holds, proseLength } = element;
    if ((holds & HOLDS.topHeading) !== 0 || name === 'main') return false;
    if (name === 'nav') return true;
    if (read < MIN_READ) return false;
    const isLarge = proseLength > MAX_SHARE * total;
    if (name === 'article') return hasArticle && read >= MIN_ARTICLE && !isLarge;
    if (read >= MIN_ARTICLE && isTeaserList(element, page)) return true;
    const names = page.names.read(element);
    if (names.includes('n:comments')) return true;
    if (page.coreAncestry.has(element) || isLarge) return false;
    return OTHER_TAGS.has(name) || names.some((part) => OTHER_NAMES.has(part));
  };

  const visit = (parent: ParentNode): number => {
    // The loop subtracts the prose of the children.
    let ownProse = isElement(parent) ? parent.proseLength : 0;
    let inside = 0;
    for (const child of parent.children) {
      if (!isElement(child) || child.textLength === 0) continue;
      ownProse -= child.proseLength;
      if (removed.has(child)) continue;
      if (child.name === 'h1') read = 0;
      if (child.proseLength === 0 && (child.holds & HOLDS.topHeading) === 0) continue;
      if (!around.has(child) && isOther(child)) continue;
      if (child.blocks === 0 || !isBlock(child)) {
        read += child.proseLength;
        inside += child.proseLength;
        continue;
      }
      inside += visit(child);
      if (child.name === 'article' && (child.holds & HOLDS.heading) !== 0) hasArticle = true;
    }
    if (ownProse > 0) {
      read += ownProse;
      inside += ownProse;
    }
    prose.set(parent, inside);
    return inside;
  };
  return visit(root) < MIN_READ ? page.core : innermost(root, prose);
}

/** Sums the prose of the outermost elements of a set. */
function proseOf(elements: ReadonlySet<PageElement>): number {
  let sum = 0;
  for (const element of elements) {
    let isInner = false;
    for (let node = element.parent; isElement(node) && !isInner; node = node.parent) isInner = elements.has(node);
    if (!isInner) sum += element.proseLength;
  }
  return sum;
}

/** Returns the innermost element on the path of children that have most of the prose of their parents. */
function innermost(root: ParentNode, prose: ReadonlyMap<ParentNode, number>): ParentNode {
  let body = root;
  for (;;) {
    const minProseLength: number = MIN_SHARE * (prose.get(body) ?? 0);
    let next: PageElement | null = null;
    for (const child of body.children) {
      if (!isElement(child) || child.name === 'p' || !isBlock(child)) continue;
      const childProse = prose.get(child) ?? 0;
      if (childProse > 0 && childProse >= minProseLength) next = child;
    }
    if (next === null) return body;
    body = next;
  }
}

import type { Document, ParentNode } from 'domhandler';
import { eachElement, isElement, type PageElement } from './pageElement.js';

/**
 * Finds the elements with the page's main text: main elements, else articles, else the whole page. A candidate must
 * contain a fair share of the text: some templates have empty main elements, or articles that are only teasers.
 */
export function findMainText(
  root: Document,
  leftOut: ReadonlySet<PageElement>,
  pageLength: number,
): readonly ParentNode[] {
  const mains: PageElement[] = [];
  const articles: PageElement[] = [];
  eachElement(root, (element) => {
    if (leftOut.has(element)) return false;
    const role = element.attribs['role'];
    if (element.name === 'main' || role === 'main') {
      mains.push(element);
      return false;
    }
    if (element.name === 'article' || role === 'article') {
      articles.push(element);
      return false;
    }
    return true;
  });
  if (hold(mains, 0.25 * pageLength)) return mains;
  // Text between and around several articles belongs to them, as on list pages, in threads, and in posts with replies.
  const holder = articles.length > 1 ? commonParent(articles, root) : articles[0];
  if (holder !== undefined && hold(isElement(holder) ? [holder] : [], 0.5 * pageLength)) return [holder];
  return [root];
}

function hold(elements: readonly PageElement[], least: number): boolean {
  let length = 0;
  for (const element of elements) length += element.textLength;
  return length > 0 && length >= least;
}

function commonParent(elements: readonly PageElement[], root: Document): ParentNode {
  let parents = new Set<ParentNode>();
  elements.forEach((element, i) => {
    const own = ancestors(element);
    parents = i === 0 ? own : new Set([...parents].filter((parent) => own.has(parent)));
  });
  // The set is ordered from the inside out.
  for (const parent of parents) return parent;
  return root;
}

function ancestors(element: PageElement): Set<ParentNode> {
  const found = new Set<ParentNode>();
  for (let parent = element.parent; parent !== null; parent = parent.parent) found.add(parent);
  return found;
}

import type { Document, ParentNode } from 'domhandler';
import { eachElement, HOLDS, isElement, type PageElement } from '../../tree/pageElement.js';
import { textOf } from '../../readMetadata.js';
import { HEADINGS } from '../../tree/tagSets.js';
import { isBlock } from '../pageMeasures.js';

/**
 * Keeps the page's only top heading: restores it if it was removed alone, and puts it before the rest if it was removed
 * with a banner. The name of the site does not count.
 * @param title the title in the page's metadata
 * @param isOnce whether other blocks with the text of the heading are removed
 */
export function withTitle(
  root: Document,
  title: string,
  removed: Set<PageElement>,
  isOnce: boolean,
): readonly ParentNode[] {
  const all: PageElement[] = [];
  eachElement(root, (element) => {
    // Skip the contents of a hidden element: only its own text length was set to 0, not those of the elements in it.
    if (element.textLength === 0) return false;
    if (element.name === 'h1') all.push(element);
    return true;
  });
  const headings = withoutSiteName(root, all, title, removed);
  const [heading] = headings;
  // A heading that is a link is the name of the site.
  if (heading === undefined || headings.length > 1 || heading.links > 0) return [root];
  removed.delete(heading);
  if (isOnce && heading.textLength >= MIN_TITLE) removeRepeatedTitle(root, heading, removed);
  return isLeftOut(heading, removed) ? [heading, root] : [root];
}

/** Minimum number of visible characters of a title that is compared: shorter texts repeat on purpose. */
const MIN_TITLE = 20;

/** A row of a table or of a list of terms stays whole. */
const CELL_TAGS = new Set(['td', 'th', 'dt', 'dd']);

/** Removes blocks that have the text of the title again: the end of a breadcrumb, the heading of a gallery. */
function removeRepeatedTitle(root: Document, title: PageElement, removed: Set<PageElement>): void {
  eachElement(root, (element) => {
    if (removed.has(element) || element.textLength < title.textLength) return false;
    const isSame = element.textLength === title.textLength && element.textHash === title.textHash;
    if (!isSame || element === title || (element.holds & HOLDS.topHeading) !== 0) return element !== title;
    if (isBlock(element) && !CELL_TAGS.has(element.name)) removed.add(element);
    return false;
  });
}

/**
 * Removes the name of the site from the top headings, if a main element of the page keeps a heading. The name is a
 * heading outside of all main elements, whose text is the last part of the page's title.
 */
function withoutSiteName(
  root: Document,
  headings: readonly PageElement[],
  title: string,
  removed: Set<PageElement>,
): readonly PageElement[] {
  const site = LAST_PART.exec(title)?.[1];
  const names = site === undefined ? [] : headings.filter((heading) => textOf(heading) === site);
  if (names.length === 0) return headings;
  const mains: PageElement[] = [];
  eachElement(root, (element) => {
    if (element.name !== 'main' && element.attribs['role'] !== 'main') return true;
    mains.push(element);
    return false;
  });
  if (!mains.some((main) => hasHeading(main, removed))) return headings;
  const isName = (heading: PageElement): boolean =>
    names.includes(heading) && !mains.some((main) => isInside(heading, main));
  for (const heading of names) if (isName(heading)) removed.add(heading);
  return headings.filter((heading) => !isName(heading));
}

const LAST_PART = /^.*\S\s+[-–—|·•:»]\s+(\S.*)$/;

/** Whether a visible heading of an element is kept. */
function hasHeading(parent: PageElement, removed: ReadonlySet<PageElement>): boolean {
  if (removed.has(parent) || (parent.holds & HOLDS.heading) === 0) return false;
  return parent.children.some(
    (child) =>
      isElement(child) &&
      !removed.has(child) &&
      child.textLength > 0 &&
      (HEADINGS.has(child.name) || hasHeading(child, removed)),
  );
}

function isInside(element: PageElement, ancestor: ParentNode): boolean {
  for (let node: ParentNode | null = element; node !== null; node = node.parent) if (node === ancestor) return true;
  return false;
}

function isLeftOut(element: PageElement, removed: ReadonlySet<PageElement>): boolean {
  for (let node: ParentNode | null = element; node !== null; node = node.parent) {
    if (isElement(node) && removed.has(node)) return true;
  }
  return false;
}

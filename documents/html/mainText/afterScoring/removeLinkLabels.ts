import type { Document, ParentNode } from 'domhandler';
import { isElement, type PageElement } from '../../tree/pageElement.js';
import { HEADINGS } from '../../tree/tagSets.js';
import { lengthOf } from './removeFooters.js';

/** Maximum share of the text in the labels. Above it, the pictures are the content. */
const MAX_SHARE = 0.3;

/** Whether the element is a link to another page. Links to a place in the page are numbers of notes and callouts. */
function leadsAway({ name, attribs }: PageElement): boolean {
  return name === 'a' && !(attribs['href'] ?? '#').trim().startsWith('#');
}

/**
 * Removes the labels (alternative texts) of pictures that are links to other pages: logos, and pictures of entries,
 * which have their name as text next to the picture. Labels of other pictures describe what the page shows and stay. So
 * do labels in headings, because a label can be all of a heading.
 * @param removed the removed blocks; receives the pictures
 */
export function removeLinkLabels(root: Document, hidden: ReadonlySet<PageElement>, removed: Set<PageElement>): void {
  const found: PageElement[] = [];
  let length = 0;
  const visit = (parent: ParentNode, inLink: boolean): void => {
    for (const child of parent.children) {
      if (!isElement(child) || child.images === 0 || child.textLength === 0 || HEADINGS.has(child.name)) continue;
      if (removed.has(child) || hidden.has(child)) continue;
      if (child.name !== 'img') visit(child, inLink || leadsAway(child));
      else if (inLink) {
        found.push(child);
        length += child.textLength;
      }
    }
  };
  visit(root, false);
  if (found.length === 0 || length > MAX_SHARE * lengthOf(root, removed)) return;
  for (const picture of found) removed.add(picture);
}

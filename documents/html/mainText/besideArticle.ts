import type { ParentNode } from 'domhandler';
import { HOLDS, isElement, isText, type PageElement } from '../pageElement.js';
import { HEADINGS } from '../tagSets.js';
import { isFootnotes, keepsCode } from './knownBlocks.js';
import type { PageMeasures } from './pageMeasures.js';
import { signatureOf } from './repeats.js';
import { removeBareHeadings } from './scoreBlocks.js';

/**
 * Removes what is not the text of a page that declares itself an article: blocks after the centre of the page, and
 * lists of other pages in it, and labels and captions of pictures. Footnotes and code stay.
 * @param around the posts of a thread and the elements around them, which are kept
 * @param removed the removed blocks; gets the others
 */
export function removeAsides(
  root: ParentNode,
  page: PageMeasures,
  around: ReadonlySet<ParentNode>,
  removed: Set<PageElement>,
): void {
  let isAfter = false;
  let at = 0;
  const visit = (parent: ParentNode): void => {
    for (const child of parent.children) {
      const start = at;
      if (isText(child)) at += child.visibleLength;
      if (!isElement(child) || child.textLength === 0) continue;
      at = start + child.textLength;
      if (removed.has(child) || around.has(child)) continue;
      if (isOfPicture(child, page)) {
        removed.add(child);
        continue;
      }
      if (isAfter && (isFootnotes(child, page) || keepsCode(child, false))) continue;
      if (!page.coreLine.has(child) && (isAfter || isTeaserList(child, start, page))) {
        removed.add(child);
        continue;
      }
      at = start;
      visit(child);
      at = start + child.textLength;
      if (child === page.core) isAfter = true;
    }
    removeBareHeadings(parent, removed);
  };
  visit(root);
}

/** The words in names of captions. */
const CAPTION = /(?:^|[^a-z])(?:fig)?(?:caption|credits?)(?![a-z])/i;
/** Maximum number of visible characters of a caption, except in a figcaption element. */
const MAX_CAPTION = 500;

/** Whether the element is the label or the caption of a picture. */
function isOfPicture(element: PageElement, page: PageMeasures): boolean {
  const { name, attribs, textLength } = element;
  if (name === 'img') return true;
  if (element.proseLength >= 0.5 * page.proseLength && page.proseLength > 0) return false;
  if (name === 'figcaption') return true;
  if (textLength >= MAX_CAPTION) return false;
  if (isFigure(element, page)) return true;
  return (
    page.names.read(element).includes('n:caption') && CAPTION.test(`${attribs['id'] ?? ''} ${attribs['class'] ?? ''}`)
  );
}

/** Maximum number of blocks in a picture with its caption. */
const MAX_FIGURE_BLOCKS = 2;

/** Whether the element is a picture with a short text, and not one of several sections that have pictures. */
function isFigure(element: PageElement, page: PageMeasures): boolean {
  const { name, images, blocks, holds, parent } = element;
  if (images === 0 || blocks > MAX_FIGURE_BLOCKS || (name !== 'div' && name !== 'figure')) return false;
  if ((holds & NOT_FIGURE) !== 0 || page.coreLine.has(element) || parent === null) return false;
  return page.repeats.get(parent)?.signature !== signatureOf(element);
}

const NOT_FIGURE = HOLDS.heading | HOLDS.list | HOLDS.preformatted;

/** Minimum share of the text before a list of other pages. Such a list in the middle can be the subject of the article. */
const MIN_BEFORE = 0.7;
/** Maximum share of the prose of the page in such a list. */
const MAX_PROSE = 0.4;
/** Maximum mean number of characters of its entries. */
const MAX_ENTRY = 500;
/** Minimum number of its entries, and minimum share of the entries whose heading is a link. */
const MIN_ENTRIES = 3;
const MIN_LINKED = 0.8;

/** Whether the element is a list of other pages: each entry has a heading that is a link. */
function isTeaserList(element: PageElement, start: number, page: PageMeasures): boolean {
  const repeats = page.repeats.get(element);
  if (repeats === undefined || repeats.links < 0.9 || repeats.headings < 0.6 || repeats.meanLength > MAX_ENTRY)
    return false;
  if (element.proseLength > MAX_PROSE * page.proseLength || start < MIN_BEFORE * page.coreEnd) return false;
  const entries = element.children.filter((child): child is PageElement => isElement(child) && child.textLength > 0);
  const linked = entries.filter(leadsElsewhere).length;
  return linked >= MIN_ENTRIES && linked >= MIN_LINKED * entries.length;
}

/** Whether a heading in the element is a link, or in a link. */
function leadsElsewhere(element: PageElement): boolean {
  const visit = (parent: PageElement, inLink: boolean): boolean =>
    parent.children.some((child) => {
      if (!isElement(child) || child.textLength === 0) return false;
      if (HEADINGS.has(child.name)) return inLink || child.linkLength >= 0.8 * child.textLength;
      return (child.holds & HOLDS.heading) !== 0 && visit(child, inLink || child.name === 'a');
    });
  return visit(element, element.name === 'a');
}

import type { ParentNode } from 'domhandler';
import { HOLDS, isElement, isText, type PageElement } from '../../tree/pageElement.js';
import { findArticleBody } from './articleBody.js';
import { isPointer } from './isPointer.js';
import { isFootnotes, keepsCode } from '../knownBlocks.js';
import type { PageMeasures } from '../pageMeasures.js';
import { signatureOf } from '../repeats.js';
import { isRowPart } from '../rowParts.js';
import { removeBareHeadings } from '../scoreBlocks.js';
import { isTeaserList } from './teasers.js';

/**
 * Removes what is not the text of a page that declares itself an article: blocks after the article, such as comments of
 * readers; blocks of links before it; blocks inside of it that lead to other pages; labels and captions of pictures.
 * Footnotes and code stay.
 * @param around the posts of a thread and the elements that contain them, which are kept
 * @param removed the blocks that were removed before; receives those that this function removes
 */
export function removeAsides(
  root: ParentNode,
  page: PageMeasures,
  around: ReadonlySet<ParentNode>,
  removed: Set<PageElement>,
): void {
  const body = findArticleBody(root, page, around, removed);
  const bodyLine = new Set<ParentNode>();
  for (let node: ParentNode | null = body; node !== null; node = node.parent) bodyLine.add(node);
  let isAfter = false;
  let at = 0;
  const isBefore = (parent: ParentNode): boolean => !isAfter && parent !== body && bodyLine.has(parent);
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
      const isBeside = !bodyLine.has(child);
      if (isBeside && (isAside(child, page) || isPointer(child) || (isBefore(parent) && isLinks(child)))) {
        removed.add(child);
        continue;
      }
      if (isAfter && (isFootnotes(child, page) || keepsCode(child, false))) continue;
      if (isBeside && (isAfter || isLastTeasers(child, start, page))) {
        removed.add(child);
        continue;
      }
      at = start;
      visit(child);
      at = start + child.textLength;
      if (child === body) isAfter = true;
    }
    removeBareHeadings(parent, removed);
  };
  visit(root);
}

/** The words in names of captions. */
const CAPTION_NAME = /(?:^|[^a-z])(?:fig)?(?:caption|credits?)(?![a-z])/i;
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
    page.names.read(element).includes('n:caption') &&
    !isRowPart(element) &&
    CAPTION_NAME.test(`${attribs['id'] ?? ''} ${attribs['class'] ?? ''}`)
  );
}

/** Maximum number of blocks in an element with a picture and its caption. */
const MAX_FIGURE_BLOCKS = 2;

/** Whether the element is a picture with a short text, and not one of several sections that have pictures. */
function isFigure(element: PageElement, page: PageMeasures): boolean {
  const { name, images, blocks, holds, parent } = element;
  if (images === 0 || blocks > MAX_FIGURE_BLOCKS || (name !== 'div' && name !== 'figure')) return false;
  if ((holds & NOT_FIGURE) !== 0 || page.coreAncestry.has(element) || parent === null) return false;
  return page.repeats.get(parent)?.signature !== signatureOf(element);
}

const NOT_FIGURE = HOLDS.heading | HOLDS.list | HOLDS.preformatted;

/**
 * Minimum share of the text before a list of other pages. Such a list in the middle can be the subject of the article.
 */
const MIN_BEFORE = 0.7;
/** Maximum share of the prose of the page in such a list. */
const MAX_PROSE = 0.4;

/** Whether the element is a list of other pages at the end of the article. */
function isLastTeasers(element: PageElement, start: number, page: PageMeasures): boolean {
  if (element.proseLength > MAX_PROSE * page.proseLength || start < MIN_BEFORE * page.coreEnd) return false;
  return isTeaserList(element, page);
}

/** Names of blocks inside of an article that lead to other pages or ask for an email address. */
const ASIDE_NAMES = new Set(['n:pages', 'n:related', 'n:signup']);
/** Maximum share of the prose of the page in such a block. */
const MAX_ASIDE = 0.2;

/** Whether the name of a block states that it leads to other pages or asks for an email address. */
function isAside(element: PageElement, page: PageMeasures): boolean {
  if (element.proseLength > MAX_ASIDE * page.proseLength || (element.holds & HOLDS.topHeading) !== 0) return false;
  if (isRowPart(element)) return false;
  return page.names.read(element).some((part) => ASIDE_NAMES.has(part)) && !isFootnotes(element, page);
}

/** Minimum number of links in a block before the article, and minimum share of links in its text. */
const MIN_LINKS = 3;
const MIN_LINK_SHARE = 0.5;

/** Whether a block before the article consists of links: a menu, popular pages, a gallery of films. */
function isLinks({ name, links, linkLength, textLength, holds }: PageElement): boolean {
  if (name === 'h1' || (holds & HOLDS.topHeading) !== 0) return false;
  return links >= MIN_LINKS && linkLength >= MIN_LINK_SHARE * textLength;
}

import type { Document, ParentNode } from 'domhandler';
import { isElement, isText, type PageElement } from '../tree/pageElement.js';
import {
  isAnnounced,
  isAnnouncing,
  isBar,
  isDataTable,
  isMenu,
  isMenuColumn,
  isFootnotes,
  isInSentence,
  isParagraph,
  isOnlyLabel,
  keepsCode,
} from './knownBlocks.js';
import { HEADINGS, LISTS } from '../tree/tagSets.js';
import { addTraits } from './blockTraits.js';
import { isOwnContents } from './reference/ownContents.js';
import { isBlock, type PageMeasures } from './pageMeasures.js';
import { pointsFor, THRESHOLD } from './points/pointsFor.js';
import { isReferenceBar, isOfReference } from './reference/referenceBlocks.js';
import type { Repeats } from './repeats.js';
import { isTitleTrail } from './reference/titleTrail.js';

/**
 * Share of the parent's points that is added to a block's own points. The parent's points include the same share of the
 * grandparent's own points.
 */
const INHERITED_SHARE = 0.4;
/** Maximum number of points below the threshold at which a block is doubtful. */
const DOUBTFUL_POINTS = 1;
/** Minimum number of characters of a duplicate: shorter texts repeat by chance. */
const DUPLICATE_LENGTH = 20;
/** Elements without points: they hold no text, little text, or a heading, which is removed only with its section. */
const UNSCORED_TAGS = new Set(['title', 'select', 'img', ...HEADINGS]);

/** Current position of the walk: the parent's place and points. */
interface Step {
  readonly inMain: boolean;
  readonly inArticle: boolean;
  readonly inCore: boolean;
  readonly points: number;
  readonly parentPoints: number;
  /** Whether the position is inside a doubtful block. */
  readonly inDoubt: boolean;
}

/** The blocks of a page that are not its content. */
interface Scored {
  readonly removed: Set<PageElement>;
  /**
   * The outermost blocks with nearly enough points to be removed. Lists are excluded, because tables of contents are
   * lists.
   */
  readonly doubtful: readonly PageElement[];
  /** Number of characters of the doubtful blocks, without those of removed blocks in them. */
  readonly doubtfulLength: number;
}

/** Properties of a page that are known before its blocks are scored. */
export interface Known {
  readonly leftOut: ReadonlySet<PageElement>;
  /** Elements with the texts of a thread's authors: these are not scored. */
  readonly written: ReadonlySet<PageElement>;
  /** The posts of a thread and the elements that contain them: these are kept, and their contents are scored. */
  readonly around: ReadonlySet<ParentNode>;
}

/**
 * Scores the blocks of a measured page from the outside to the inside and returns those that are not its content. Each
 * trait of a block has points; more points than the threshold remove it with everything inside. Blocks with a few points
 * less are doubtful.
 * @param slack points above the threshold that are still allowed
 */
export function scoreBlocks(
  root: Document,
  page: PageMeasures,
  { leftOut, written, around }: Known,
  slack: number,
): Scored {
  const { points, all } = pointsFor(page.shapes);
  const removed = new Set<PageElement>();
  const doubtful: PageElement[] = [];
  let doubtfulLength = 0;
  let removedLength = 0;
  const seen = new Set<number>();
  const traits: string[] = [];
  let at = 0;

  const visit = (parent: ParentNode, siblings: Repeats | null, step: Step): void => {
    const holdsBlocks = parent.children.some((child) => isElement(child) && isBlock(child));
    for (const child of parent.children) {
      const start = at;
      if (isText(child)) at += child.visibleLength;
      if (!isElement(child) || child.textLength === 0 || leftOut.has(child)) continue;
      at += child.textLength;
      if (isUnscored(child, page, written) || belongsTogether(child, step.inCore) || isInSentence(child)) continue;
      const children = page.repeats.get(child) ?? null;
      const next = enter(child, step, page);
      const removedBefore = removedLength;
      if ((holdsBlocks || isBlock(child)) && !around.has(child)) {
        const isDuplicate = child.textLength >= DUPLICATE_LENGTH && isRepeated(child, seen);
        traits.length = 0;
        const { inMain, inArticle, inCore } = step;
        addTraits(traits, child, { start, inMain, inArticle, inCore, isDuplicate, siblings, children }, page);
        let ownPoints = all;
        for (const trait of traits) ownPoints += points.get(trait) ?? 0;
        const excess =
          ownPoints + INHERITED_SHARE * (step.points + INHERITED_SHARE * step.parentPoints) - THRESHOLD - slack;
        const isJunk =
          excess > -DOUBTFUL_POINTS &&
          !isOfReference(child, next.inMain, page) &&
          !keepsCode(child, next.inCore) &&
          !(page.shapes.includes('code') && isDataTable(child, step.inCore, page));
        if (
          (isJunk && excess > 0) ||
          isMenuColumn(child, page) ||
          isMenu(child, start, page) ||
          isBar(child, start, page) ||
          isReferenceBar(child, start, page) ||
          isTitleTrail(child, page) ||
          isOwnContents(child, start, page)
        ) {
          removed.add(child);
          removedLength += child.textLength;
          continue;
        }
        if (isJunk && !step.inDoubt && !LISTS.has(child.name)) {
          doubtful.push(child);
          next.inDoubt = true;
        }
        next.parentPoints = step.points;
        next.points = ownPoints;
      }
      at = start;
      if (isDataTable(child, step.inCore, page)) {
        at = start + child.textLength;
        continue;
      }
      visit(child, children, next);
      at = start + child.textLength;
      if (!around.has(child) && !page.coreAncestry.has(child) && isOnlyLabel(child, removed)) {
        removed.add(child);
        removedLength = removedBefore + child.textLength;
      }
      if (next.inDoubt && !step.inDoubt) doubtfulLength += child.textLength - (removedLength - removedBefore);
    }
    removeBareHeadings(parent, removed);
  };
  const inCore = page.core === root;
  const outside = { inMain: false, inArticle: false, points: 0, parentPoints: 0, inDoubt: false };
  visit(root, page.repeats.get(root) ?? null, { ...outside, inCore });
  return { removed, doubtful, doubtfulLength };
}

/** Whether the element is removed only together with its container. */
function isUnscored(element: PageElement, page: PageMeasures, written: ReadonlySet<PageElement>): boolean {
  return UNSCORED_TAGS.has(element.name) || written.has(element) || isParagraph(element) || isFootnotes(element, page);
}

/** Whether the element is the announcement of what follows it, or a list that is announced. */
function belongsTogether(element: PageElement, inCore: boolean): boolean {
  return isAnnounced(element, inCore) || isAnnouncing(element, inCore);
}

function enter(element: PageElement, step: Step, page: PageMeasures): { -readonly [Key in keyof Step]: Step[Key] } {
  const { name } = element;
  const role = element.attribs['role'];
  return {
    inMain: step.inMain || name === 'main' || role === 'main',
    inArticle: step.inArticle || name === 'article' || role === 'article',
    inCore: step.inCore || element === page.core,
    points: step.points,
    parentPoints: step.parentPoints,
    inDoubt: step.inDoubt,
  };
}

/** Whether an earlier element has the same text. An only child has the text of its parent, which does not count. */
function isRepeated(element: PageElement, seen: Set<number>): boolean {
  const key = element.textHash;
  const { parent } = element;
  if (parent !== null && isElement(parent) && parent.textHash === key) return false;
  if (seen.has(key)) return true;
  seen.add(key);
  return false;
}

/** Removes headings whose whole section was removed, such as "Related" without its links. */
export function removeBareHeadings(parent: ParentNode, removed: Set<PageElement>): void {
  let heading: PageElement | null = null;
  let isBare = false;
  const end = (): void => {
    if (heading !== null && isBare) removed.add(heading);
    heading = null;
    isBare = false;
  };
  for (const child of parent.children) {
    if (isText(child)) {
      if (child.visibleLength > 0) heading = null;
    } else if (isElement(child) && child.textLength > 0) {
      if (removed.has(child)) isBare = true;
      else if (SUBHEADING.test(child.name)) {
        end();
        heading = child;
      } else if (heading !== null) {
        if (isEmptied(child, removed)) isBare = true;
        else heading = null;
      }
    }
  }
  end();
}

/** Whether all visible text of an element is in removed blocks. */
function isEmptied(element: PageElement, removed: ReadonlySet<PageElement>): boolean {
  return element.children.every((child) => {
    if (isText(child)) return child.visibleLength <= 0;
    return !isElement(child) || child.textLength === 0 || removed.has(child) || isEmptied(child, removed);
  });
}

const SUBHEADING = /^h[2-6]$/;

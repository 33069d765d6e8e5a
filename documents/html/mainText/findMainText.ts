import type { Document, ParentNode } from 'domhandler';
import { measureText, measureWithout } from '../tree/measureText.js';
import type { PageElement } from '../tree/pageElement.js';
import { findPosts } from '../posts/findPosts.js';
import { placePosts } from '../posts/placePosts.js';
import { protectPosts } from '../posts/protectPosts.js';
import type { DeclaredKind } from './declaredKind.js';
import { removeAsides } from './article/besideArticle.js';
import { findHidden } from './hidden/findHidden.js';
import { measurePage } from './pageMeasures.js';
import { removeCopies } from './afterScoring/removeCopies.js';
import { removeFooters } from './afterScoring/removeFooters.js';
import { removeLinkLabels } from './afterScoring/removeLinkLabels.js';
import { removeBareHeadings, scoreBlocks } from './scoreBlocks.js';
import { placeTitleNotes } from './reference/titleNotes.js';
import { withTitle } from './afterScoring/withTitle.js';

export interface Selection {
  readonly nodes: readonly ParentNode[];
  readonly leftOut: ReadonlySet<PageElement>;
}

/** Minimum number of characters of a page's content. */
const MIN_CONTENT = 50;
/**
 * If an attempt keeps less than MIN_SHARE of the page's text and fewer than TEASER_TEXT characters, it has kept only
 * the introduction of an index and removed its entries, which are the content. A less strict attempt follows. The last
 * attempt is not checked.
 */
const MIN_SHARE = 0.05;
const TEASER_TEXT = 300;
/** Points that each further attempt adds to the threshold; it then removes fewer blocks. */
const SLACK_STEP = 2;

/** Doubtful blocks are removed if at least this share of the text remains; otherwise they are the content. */
const CERTAIN_SHARE = 0.5;

/** What is known about a page besides its tree. */
interface AboutPage {
  readonly declared: DeclaredKind | null;
  /** The title in the page's metadata; '' without one. */
  readonly title: string;
  readonly baseUrl: string | null;
}

/**
 * Chooses the strictest selection that keeps the page's content. A selection is too strict if, for example, only the
 * heading of an index remains.
 */
export function findMainText(tree: Document, { declared, title, baseUrl }: AboutPage): Selection {
  const noElements: ReadonlySet<PageElement> = new Set();
  const measured = measureText(tree, noElements);
  const whole = measured.textLength;
  const hidden = findHidden(tree, measured, declared === 'reference');
  const all = hidden.size === 0 ? measured : measureWithout(tree, hidden);
  if (all.textLength > 0) {
    const page = measurePage(tree, all, hidden, { declared, fileName: fileNameOf(baseUrl) });
    const posts = findPosts(tree, hidden, page.articles);
    const protectedPosts = protectPosts(posts, all.proseLength);
    for (const slack of [0, SLACK_STEP, 2 * SLACK_STEP]) {
      const excluded = { leftOut: hidden, ...protectedPosts };
      const { removed, doubtful, doubtfulLength } = scoreBlocks(tree, page, excluded, slack);
      let remainingLength = all.textLength;
      for (const element of removed) remainingLength -= element.textLength;
      // Generators of documentation mark their menus: below a title, also a short text is all of the content.
      const isCertain = declared === 'reference' && page.titleAt >= 0 && remainingLength > 0;
      if (!isCertain && remainingLength < MIN_CONTENT && remainingLength < 0.25 * whole) continue;
      if (slack <= SLACK_STEP && remainingLength < MIN_SHARE * all.textLength && remainingLength < TEASER_TEXT)
        continue;
      if (remainingLength - doubtfulLength >= CERTAIN_SHARE * remainingLength) removeAll(doubtful, removed);
      if (declared === 'article') removeAsides(tree, page, protectedPosts.around, removed);
      // Documentation repeats titles, descriptions and code on purpose.
      const isOnce = declared !== 'reference' && !page.shapes.includes('code');
      if (isOnce) removeCopies(tree, removed);
      removeFooters(tree, removed);
      if (isOnce) removeLinkLabels(tree, hidden, removed);
      const nodes = withTitle(tree, title, removed, isOnce);
      const leftOut = new Set([...hidden, ...removed]);
      placePosts(posts, leftOut);
      if (declared === 'reference') placeTitleNotes(tree, leftOut);
      return { nodes, leftOut };
    }
  }
  measureText(tree, noElements);
  return { nodes: [tree], leftOut: noElements };
}

/** Returns the last part of the path of an address; '' without one. */
const fileNameOf = (address: string | null): string => /^[^?#]*\/([^?#/]+)(?:[?#]|$)/.exec(address ?? '')?.[1] ?? '';

/** Removes blocks, and headings that would have nothing below them. */
function removeAll(blocks: readonly PageElement[], removed: Set<PageElement>): void {
  for (const block of blocks) removed.add(block);
  for (const parent of new Set(blocks.map((block) => block.parent)))
    if (parent !== null) removeBareHeadings(parent, removed);
}

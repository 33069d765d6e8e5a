import type { Document, ParentNode } from 'domhandler';
import { measureText } from '../measureText.js';
import type { PageElement } from '../pageElement.js';
import { findHidden } from './findHidden.js';
import { readFacts } from './pageFacts.js';
import { scoreBlocks } from './scoreBlocks.js';
import { withTitle } from './withTitle.js';

export interface Selection {
  readonly nodes: readonly ParentNode[];
  readonly leftOut: ReadonlySet<PageElement>;
}

/** Shorter texts accompany the content and are not the content itself. */
const LITTLE_TEXT = 50;
/** Points by which the second attempt is more careful. */
const MORE_CAREFUL = 2;

/** Chooses the strictest selection that keeps the page's content: an index must not shrink to its heading. */
export function findMainText(tree: Document): Selection {
  const nothing: ReadonlySet<PageElement> = new Set();
  const everything = measureText(tree, nothing);
  const whole = everything.textLength;
  const hidden = findHidden(tree, whole);
  const all = hidden.size === 0 ? everything : measureText(tree, hidden);
  if (all.textLength > 0) {
    const page = readFacts(tree, all, hidden);
    for (const slack of [0, MORE_CAREFUL]) {
      const removed = scoreBlocks(tree, page, hidden, slack);
      let rest = all.textLength;
      for (const element of removed) rest -= element.textLength;
      if (rest < LITTLE_TEXT && rest < 0.25 * whole) continue;
      const nodes = withTitle(tree, removed);
      return { nodes, leftOut: new Set([...hidden, ...removed]) };
    }
  }
  measureText(tree, nothing);
  return { nodes: [tree], leftOut: nothing };
}

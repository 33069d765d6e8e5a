import type { ChildNode, ParentNode } from 'domhandler';
import { HOLDS, isElement, isText, type PageElement } from '../../tree/pageElement.js';
import { HEADINGS } from '../../tree/tagSets.js';

/** Maximum number of visible characters of a note next to a title. */
const MAX_NOTE_LENGTH = 40;

/**
 * Moves a short note behind the title that follows it, if a section contains only these two. rustdoc writes the version
 * in front of the title, and its style sheet shows it next to the title. Unmoved, the version would be the last line
 * below the previous title.
 * @param leftOut the elements that are excluded from the text of the page
 */
export function placeTitleNotes(root: ParentNode, leftOut: ReadonlySet<PageElement>): void {
  const isVisible = (node: ChildNode): boolean =>
    isElement(node) ? node.textLength > 0 && !leftOut.has(node) : isText(node) && node.visibleLength > 0;
  const visit = (parent: ParentNode): void => {
    for (const child of parent.children) {
      if (!isElement(child) || child.textLength === 0 || leftOut.has(child)) continue;
      if ((child.holds & HOLDS.heading) === 0) continue;
      if (child.name === 'section') {
        const [note, title, more] = child.children.filter(isVisible);
        if (note !== undefined && title !== undefined && more === undefined && isNote(note) && isTitle(title))
          moveBehind(note, title);
      }
      visit(child);
    }
  };
  visit(root);
}

const isNote = (node: ChildNode): node is PageElement =>
  isElement(node) && node.textLength <= MAX_NOTE_LENGTH && (node.holds & HOLDS.block) === 0 && node.name === 'span';

const isTitle = (node: ChildNode): node is PageElement => isElement(node) && HEADINGS.has(node.name);

/** Moves a node behind a later sibling. */
function moveBehind(node: PageElement, sibling: PageElement): void {
  const { parent } = node;
  if (parent === null) return;
  parent.children = parent.children.filter((child) => child !== node);
  parent.children.splice(parent.children.indexOf(sibling) + 1, 0, node);
  parent.children.forEach((child, i) => {
    child.prev = parent.children[i - 1] ?? null;
    child.next = parent.children[i + 1] ?? null;
  });
}

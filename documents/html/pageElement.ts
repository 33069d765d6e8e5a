import { Element, Text, type ChildNode, type ParentNode } from 'domhandler';

/** An element of the light tree with its text measures (see measureText). */
export class PageElement extends Element {
  /** Number of characters without white space. */
  textLength = 0;
  /** Number of these characters inside links. */
  linkLength = 0;
  links = 0;
  /** The kinds of its descendants, as bits of HOLDS. */
  holds = 0;
}

/** A text node of the light tree. */
export class PageText extends Text {
  #visibleLength = -1;

  /** Number of visible characters; cached, because a page is measured several times. */
  get visibleLength(): number {
    if (this.#visibleLength < 0) this.#visibleLength = visibleLength(this.data);
    return this.#visibleLength;
  }
}

/** Counts the visible characters: all except white space and control characters. */
export function visibleLength(text: string): number {
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 32 && unit !== 0xa0) length++;
  }
  return length;
}

export const HOLDS = {
  block: 1,
  table: 2,
  preformatted: 4,
  heading: 8,
  list: 16,
  topHeading: 32,
  control: 64,
  term: 128,
  lineBreak: 256,
} as const;

export function isText(node: ChildNode): node is PageText {
  return node instanceof PageText;
}

export function isElement(node: ChildNode | ParentNode | null): node is PageElement {
  return node instanceof PageElement;
}

/** Appends a node and updates the sibling links that selectors use. */
export function append(parent: ParentNode, child: ChildNode): void {
  const last = parent.children.at(-1) ?? null;
  child.parent = parent;
  child.prev = last;
  if (last !== null) last.next = child;
  parent.children.push(child);
}

/** Calls `visit` for every element below the node, in document order; false skips the element's content. */
export function eachElement(root: ParentNode, visit: (element: PageElement) => boolean | undefined): void {
  const waiting: ParentNode[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node !== root && isElement(node) && visit(node) === false) continue;
    for (let i = node.children.length - 1; i >= 0; i--) {
      const child = node.children[i];
      if (child !== undefined && isElement(child)) waiting.push(child);
    }
  }
}

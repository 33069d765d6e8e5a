import { Element, Text, type ChildNode, type ParentNode } from 'domhandler';

/** An element of the light tree with what is known of the text inside it (see measureText). */
export class PageElement extends Element {
  /** Characters other than white space. */
  textLength = 0;
  /** Those of them inside links. */
  linkLength = 0;
  links = 0;
  /** Which kinds of element it holds, itself left out: bits of HOLDS. */
  holds = 0;
}

/** Text of the light tree. */
export class PageText extends Text {
  #visibleLength = -1;

  /** Characters above the space; counted once, for a page is measured more than once. */
  get visibleLength(): number {
    if (this.#visibleLength < 0) this.#visibleLength = visibleLength(this.data);
    return this.#visibleLength;
  }
}

/** Characters above the space: white space and control characters left out. */
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

/** Appends a node, keeping the links between siblings that selectors walk along. */
export function append(parent: ParentNode, child: ChildNode): void {
  const last = parent.children.at(-1) ?? null;
  child.parent = parent;
  child.prev = last;
  if (last !== null) last.next = child;
  parent.children.push(child);
}

/** Calls `visit` for every element below the node, in the order of the page; false leaves out what the element holds. */
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

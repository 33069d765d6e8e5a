import { Element, Text, type ChildNode, type ParentNode } from 'domhandler';

/** An element of the light tree that buildTree creates from a page, with its text measures (see measureText). */
export class PageElement extends Element {
  /** Number of characters without white space. */
  textLength = 0;
  /** Number of these characters inside links. */
  linkLength = 0;
  links = 0;
  /** Number of characters in lines of prose: long, and not in links. */
  proseLength = 0;
  images = 0;
  /** Number of blocks in it. */
  blocks = 0;
  /** Number of commas, full stops and the corresponding marks of other scripts. */
  marks = 0;
  /** Equal for elements with equal text. */
  textHash = 0;
  /** The kinds of its descendants, as bits of HOLDS. */
  holds = 0;
  /** The traits that words in its id and classes indicate, such as `n:menu`; null before NameReader reads them. */
  nameParts: readonly string[] | null = null;
}

/** A text node of the light tree. */
export class PageText extends Text {
  /** Number of visible characters, counted once (see countText). */
  visibleLength = -1;
  marks = 0;
  digits = 0;
  textHash = 0;
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

/** Counts the characters, marks and digits of a text, and computes its hash; does nothing if that was done before. */
export function countText(node: PageText): void {
  if (node.visibleLength >= 0) return;
  const { data } = node;
  let length = 0;
  let marks = 0;
  let digits = 0;
  let hash = 0;
  for (let i = 0; i < data.length; i++) {
    const unit = data.charCodeAt(i);
    if (unit <= 32 || unit === 0xa0) continue;
    length++;
    hash = (Math.imul(hash, 31) + unit) | 0;
    if (unit < 65) {
      if (unit >= 48 && unit < 58) digits++;
      else if (unit === 44 || unit === 46) marks++;
    } else if (unit > 0x588 && PUNCTUATION.has(unit)) marks++;
  }
  node.visibleLength = length;
  node.marks = marks;
  node.digits = digits;
  node.textHash = hash;
}

/** Commas and full stops of Arabic, Armenian, Devanagari, Ethiopic, Chinese and Japanese, and the Arabic semicolon. */
const PUNCTUATION: ReadonlySet<number> = new Set([
  0x60c, 0x61b, 0x6d4, 0x964, 0x1362, 0x1363, 0x3001, 0x3002, 0xff0c, 0xff0e, 0x589,
]);

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
  /** A time, or a short text with digits: perhaps a date. */
  date: 512,
} as const;

/** Whether the node is a text. Like `isElement`, it tests a field of the class, because `instanceof` takes longer. */
export function isText(node: ChildNode): node is PageText {
  return 'digits' in node;
}

export function isElement(node: ChildNode | ParentNode | null): node is PageElement {
  return node !== null && 'holds' in node;
}

/** Appends a node and updates the sibling links that selectors use. */
export function append(parent: ParentNode, child: ChildNode): void {
  const last = parent.children.at(-1) ?? null;
  child.parent = parent;
  child.prev = last;
  if (last !== null) last.next = child;
  parent.children.push(child);
}

/** Sets the children of a node, and their links to it and to each other. */
export function setChildren(parent: ParentNode, children: ChildNode[]): void {
  parent.children = children;
  children.forEach((child, i) => {
    child.parent = parent;
    child.prev = children[i - 1] ?? null;
    child.next = children[i + 1] ?? null;
  });
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

import type { ChildNode, ParentNode } from 'domhandler';
import { HOLDS, isElement, isText, PageElement, PageText } from '../tree/pageElement.js';
import { LISTS } from '../tree/tagSets.js';
import { findBodies } from './findBodies.js';
import type { Post } from './findPosts.js';
import { shapeOf } from './shapeOf.js';

/** A marker in the tree where the text of a post begins or ends: no chunk extends across it. */
export class PostBorder extends PageElement {
  readonly kind: 'post' | 'rest';

  constructor(kind: 'post' | 'rest', children: ChildNode[]) {
    super(kind === 'post' ? 'h2' : 'div', {}, children);
    this.kind = kind;
  }
}

/** Maximum number of other characters in a line with an author or a date, such as "by", "#2", "Reply". */
const MAX_OTHER_CHARACTERS = 40;

/**
 * Writes a line with the author and the date at the start of each kept post, and removes the elements that showed them.
 * Marks the borders of the posts.
 * @param leftOut the elements that are excluded from the text of the page; receives the elements removed here
 */
export function placePosts(posts: readonly Post[], leftOut: Set<PageElement>): void {
  const kept = posts.filter(({ element }) => !isLeftOut(element, leftOut));
  const elements = new Set(kept.map(({ element }) => element));
  const bodies = findBodies(kept, elements);
  removeRepeatedParts(kept, bodies, elements, leftOut);
  for (const post of kept) {
    const { element, author, date } = post;
    const body = bodies.get(element) ?? null;
    const marks = [author.element, date?.element ?? null, ...post.copies].filter((mark) => mark !== null);
    for (const mark of marks) {
      const whole = widest(mark, element, body, marks);
      if (whole !== null) leftOut.add(whole);
      else if (mark === date?.element && date.node !== null) date.node.data = '';
    }
    if (!holdsText(element, leftOut, elements)) continue;
    const line = new PostBorder('post', [
      new PageText(date === null || date.text === '' ? author.text : `${author.text}, ${date.text}`),
    ]);
    insert(element, line);
  }
}

/** Whether a post still has text of its own: its body may have been removed as a block that is not content. */
const holdsText = (element: PageElement, leftOut: ReadonlySet<PageElement>, posts: Elements): boolean =>
  element.children.some((child) =>
    isElement(child)
      ? child.textLength > 0 && !leftOut.has(child) && !posts.has(child) && holdsText(child, leftOut, posts)
      : isText(child) && child.data.trim() !== '',
  );

/**
 * Removes the elements that the template repeats around the bodies of most posts: buttons, numbers, details of the
 * author.
 */
function removeRepeatedParts(
  posts: readonly Post[],
  bodies: Bodies,
  elements: Elements,
  leftOut: Set<PageElement>,
): void {
  const surroundings = posts.map(({ element }) => surroundingsOf(element, bodies.get(element) ?? null, elements));
  const counts = new Map<string, number>();
  for (const neighbour of surroundings)
    for (const shape of new Set(neighbour.map((element) => shapeOf(element))))
      counts.set(shape, (counts.get(shape) ?? 0) + 1);
  const minCount = Math.max(2, posts.length / 2);
  for (const element of surroundings.flat())
    if ((counts.get(shapeOf(element)) ?? 0) >= minCount && element.proseLength === 0) leftOut.add(element);
}

/** Returns the elements of a post that are next to its body, or next to the elements around the body. */
function surroundingsOf(post: PageElement, body: PageElement | null, elements: Elements): PageElement[] {
  const surroundings: PageElement[] = [];
  for (let node = body; node !== null && node !== post; node = node.parent as PageElement | null) {
    for (const child of node.parent?.children ?? []) {
      if (!isElement(child) || child === node || elements.has(child) || child.textLength === 0) continue;
      if ((child.holds & KEPT) === 0 && !holdsAny(child, elements)) surroundings.push(child);
    }
  }
  return surroundings;
}

/** Kinds of content that are also kept outside of the body. */
const KEPT = HOLDS.preformatted | HOLDS.table;

type Bodies = ReadonlyMap<PageElement, PageElement>;
type Elements = ReadonlySet<PageElement>;

const holdsAny = (element: PageElement, elements: Elements): boolean =>
  element.children.some((child) => isElement(child) && (elements.has(child) || holdsAny(child, elements)));

function isLeftOut(element: PageElement, leftOut: ReadonlySet<PageElement>): boolean {
  for (let node: ParentNode | null = element; isElement(node); node = node.parent) if (leftOut.has(node)) return true;
  return false;
}

/**
 * Returns the largest element inside the post that contains the given name or date and hardly any other text: at least
 * the marked element itself, however much other text it has. Null if the marked element contains prose or the body, or
 * is the post.
 */
function widest(
  mark: PageElement,
  post: PageElement,
  body: PageElement | null,
  marks: readonly PageElement[],
): PageElement | null {
  const ancestors = new Set<ParentNode>();
  for (let node: ParentNode | null = body; node !== null && node !== post; node = node.parent) ancestors.add(node);
  let best: PageElement | null = null;
  for (let node: PageElement['parent'] = mark; isElement(node) && node !== post; node = node.parent) {
    if (ancestors.has(node) || node.proseLength > 0) break;
    let remainingLength = node.textLength;
    for (const inner of marks) if (isInside(inner, node)) remainingLength -= inner.textLength;
    // Without a known body, a short post could count as the rest of the line.
    if (remainingLength > (body === null ? MAX_OTHER_CHARACTERS / 4 : MAX_OTHER_CHARACTERS) && node !== mark) break;
    best = node;
  }
  return best;
}

function isInside(element: PageElement, container: PageElement): boolean {
  for (let node: ParentNode | null = element; node !== null; node = node.parent) if (node === container) return true;
  return false;
}

/** Inserts the line at the start of a post and an end marker at its end; in a table, in the first and the last cell. */
function insert(post: PageElement, line: PostBorder): void {
  if (post.name === 'li') {
    // The posts are not items of a list: their text must not be indented.
    post.name = 'div';
    const { parent } = post;
    if (isElement(parent) && LISTS.has(parent.name)) parent.name = 'div';
  }
  const first = cellOf(post, 'first');
  line.parent = first;
  first.children.unshift(line);
  const last = cellOf(post, 'last');
  const end = new PostBorder('rest', []);
  end.parent = last;
  last.children.push(end);
  // Mark the elements around the post as if they contained a table: a table that contains a table is read as a layout,
  // not as data.
  for (let node: ParentNode | null = first; isElement(node); node = node.parent) node.holds |= HOLDS.table;
}

const TABLE_TAGS = new Set(['table', 'tbody', 'thead', 'tr']);

function cellOf(post: PageElement, which: 'first' | 'last'): PageElement {
  let node = post;
  while (TABLE_TAGS.has(node.name)) {
    const inner = node.children.filter(
      (child) => isElement(child) && (TABLE_TAGS.has(child.name) || child.name === 'td'),
    );
    const next = which === 'first' ? inner[0] : inner.at(-1);
    if (!isElement(next ?? null)) return node;
    node = next as PageElement;
  }
  return node;
}

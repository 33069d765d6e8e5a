import { isElement, type PageElement } from '../tree/pageElement.js';
import type { Post } from './findPosts.js';
import { shapeOf } from './shapeOf.js';

/** Minimum share of the prose of a post that its body has. */
const MIN_SHARE_OF_POST = 0.9;
/** Minimum share of posts that contain an element of a shape, for the shape to be usual. */
const MIN_SAME_SHAPE_SHARE = 0.8;

/**
 * Finds the author's text in each post: the smallest element with nearly all of the prose whose shape is usual, that
 * is, occurs in most posts with prose. In a post without such an element, it is the first element with the most
 * frequent shape of the other posts' texts.
 * @param elements the elements of the posts
 */
export function findBodies(
  posts: readonly Post[],
  elements: ReadonlySet<PageElement>,
): ReadonlyMap<PageElement, PageElement> {
  const bodies = new Map<PageElement, PageElement>();
  const chains = posts.map(({ element }) => chainOf(element, elements));
  const counts = new Map<string, number>();
  for (const chain of chains)
    for (const shape of new Set(chain.map((element) => shapeOf(element))))
      counts.set(shape, (counts.get(shape) ?? 0) + 1);
  const withProse = chains.filter((chain) => chain.length > 0).length;
  const usual = new Set(
    [...counts].filter(([, count]) => count >= MIN_SAME_SHAPE_SHARE * withProse).map(([shape]) => shape),
  );
  const chosen = new Map<string, number>();
  posts.forEach(({ element }, nth) => {
    const body = chains[nth]?.findLast((candidate) => usual.has(shapeOf(candidate)));
    if (body === undefined) return;
    bodies.set(element, body);
    chosen.set(shapeOf(body), (chosen.get(shapeOf(body)) ?? 0) + 1);
  });
  const shapes = [...chosen].toSorted((a, b) => b[1] - a[1]).map(([shape]) => shape);
  for (const { element } of posts) {
    if (bodies.has(element)) continue;
    for (const shape of shapes) {
      const body = findShape(element, shape, elements);
      if (body === null) continue;
      bodies.set(element, body);
      break;
    }
  }
  return bodies;
}

/** Returns the elements inside a post that have nearly all of its prose, from the outside to the inside. */
function chainOf(post: PageElement, elements: ReadonlySet<PageElement>): PageElement[] {
  const chain: PageElement[] = [];
  const proseOf = (element: PageElement): number =>
    elements.has(element) ? 0 : element.proseLength - proseOfInnerPosts(element, elements);
  const total = post.proseLength - proseOfInnerPosts(post, elements);
  for (let node = post; total > 0;) {
    const next = node.children.find((child) => isElement(child) && proseOf(child) >= MIN_SHARE_OF_POST * total);
    if (!isElement(next ?? null) || TEXT_ELEMENTS.has((next as PageElement).name)) break;
    node = next as PageElement;
    chain.push(node);
  }
  return chain;
}

/** Returns the number of characters of prose of the posts inside an element. */
function proseOfInnerPosts(element: PageElement, elements: ReadonlySet<PageElement>): number {
  let sum = 0;
  for (const child of element.children) {
    if (!isElement(child) || child.proseLength === 0) continue;
    sum += elements.has(child) ? child.proseLength : proseOfInnerPosts(child, elements);
  }
  return sum;
}

/** Elements that belong to the text itself. */
const TEXT_ELEMENTS = new Set([
  'p',
  'pre',
  'blockquote',
  'ul',
  'ol',
  'li',
  'span',
  'b',
  'i',
  'em',
  'strong',
  'a',
  'font',
  'center',
]);

function findShape(post: PageElement, shape: string, elements: ReadonlySet<PageElement>): PageElement | null {
  for (const child of post.children) {
    if (!isElement(child) || elements.has(child) || child.textLength === 0) continue;
    if (shapeOf(child) === shape) return child;
    const inner = findShape(child, shape, elements);
    if (inner !== null) return inner;
  }
  return null;
}

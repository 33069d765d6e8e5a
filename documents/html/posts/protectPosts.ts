import type { ParentNode } from 'domhandler';
import { isElement, type PageElement } from '../tree/pageElement.js';
import { findBodies } from './findBodies.js';
import type { Post } from './findPosts.js';

/** Minimum share of the prose of a page that the posts of a thread have. */
const MIN_SHARE_OF_PROSE = 0.5;
/** Maximum number of characters of prose outside the comments of a page whose content is the comments. */
const LITTLE_PROSE = 300;

/** The parts of a thread that are always content. */
export interface ProtectedPosts {
  /** The elements with the authors' texts. */
  readonly written: ReadonlySet<PageElement>;
  /** The elements with the authors' texts, or else the posts; and their ancestors. */
  readonly around: ReadonlySet<ParentNode>;
}

/**
 * If the page is a thread, returns the elements with the authors' texts and their ancestors. Otherwise the sets are
 * empty. The page is a thread in two cases:
 * - Posts that are not comments have at least MIN_SHARE_OF_PROSE of its prose. Comments are then scored like other
 *   blocks.
 * - Comments have that share, and at most LITTLE_PROSE characters of prose are outside of them. Then all posts are
 *   protected, comments included.
 */
export function protectPosts(posts: readonly Post[], proseLength: number): ProtectedPosts {
  const written = new Set<PageElement>();
  const around = new Set<ParentNode>();
  if (posts.length === 0) return { written, around };
  const elements = new Set(posts.map(({ element }) => element));
  const ownPosts: Post[] = [];
  const comments: Post[] = [];
  for (const post of posts) (isComment(post.element) ? comments : ownPosts).push(post);
  const commentProse = proseOf(comments);
  const ownProse = proseOf(ownPosts) - proseInside(comments, ownPosts);
  let chosen: readonly Post[] = [];
  if (ownProse >= MIN_SHARE_OF_PROSE * proseLength) chosen = ownPosts;
  else if (commentProse >= MIN_SHARE_OF_PROSE * proseLength && proseLength - commentProse <= LITTLE_PROSE)
    chosen = posts;
  const bodies = findBodies(posts, elements);
  for (const { element } of chosen) {
    const body = bodies.get(element);
    if (body !== undefined) written.add(body);
    for (let node: ParentNode | null = body ?? element; node !== null && !around.has(node); node = node.parent)
      around.add(node);
  }
  return { written, around };
}

/** Sums the prose of posts, without counting nested posts twice. */
function proseOf(posts: readonly Post[]): number {
  const elements = new Set(posts.map(({ element }) => element));
  let prose = 0;
  for (const { element } of posts) if (!isInside(element, elements)) prose += element.proseLength;
  return prose;
}

/** Sums the prose of comments inside of posts. */
function proseInside(comments: readonly Post[], posts: readonly Post[]): number {
  const elements = new Set(posts.map(({ element }) => element));
  return proseOf(comments.filter(({ element }) => isInside(element, elements)));
}

function isInside({ parent }: PageElement, elements: ReadonlySet<PageElement>): boolean {
  for (let node = parent; isElement(node); node = node.parent) if (elements.has(node)) return true;
  return false;
}

const COMMENT = /(?:^|[\s_-])comments?(?:$|[\s_-]|list)/;
/** Number of elements whose names are read: the post and those around it. */
const NAMED_DEPTH = 4;

/** Whether the names of the post or of elements around it mark it as a comment. */
function isComment(element: PageElement): boolean {
  let node: PageElement['parent'] = element;
  for (let depth = 0; depth < NAMED_DEPTH && isElement(node) && node.name !== 'body'; depth++, node = node.parent) {
    const names = `${node.attribs['id'] ?? ''} ${node.attribs['class'] ?? ''}`;
    if (COMMENT.test(names.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase())) return true;
  }
  return false;
}

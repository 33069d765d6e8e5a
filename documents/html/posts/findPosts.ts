import type { Document, ParentNode } from 'domhandler';
import { HOLDS, isElement, type PageElement } from '../tree/pageElement.js';
import type { AuthorMark } from './authors.js';
import { type DateMark, readDate } from './dates.js';
import { isTeaser } from './isTeaser.js';
import { shapeOf } from './shapeOf.js';
import { chooseDate, type PostParts, readPost } from './readPost.js';

/** A post of a thread: a question, an answer, a comment, a message. */
export interface Post extends PostParts {
  readonly author: AuthorMark;
  readonly date: DateMark | null;
}

/** Minimum share of posts among the elements of one shape, and minimum share of these posts that name an author. */
const MIN_POST_SHARE = 0.6;
/** Minimum mean number of characters of a post outside of links. */
const MIN_MEAN_LENGTH = 40;

/**
 * Finds the posts of a page: repeated elements of one shape with an author, a date and text, the replies inside them,
 * and the post that opened the thread. Class names are only one kind of evidence for an author. measureText must have
 * measured the page.
 * @param articles number of article elements
 * @returns the posts in document order
 */
export function findPosts(root: Document, leftOut: ReadonlySet<PageElement>, articles: number): Post[] {
  const dateCounts = countDates(root, leftOut);
  const undated = (): Post[] => (articles < MIN_UNDATED_POSTS ? [] : postsWithoutDates(root, leftOut));
  if ((dateCounts.get(root) ?? 0) < 2) return undated();
  const found = new Map<PageElement, Post>();
  const shapes = new Set<string>();
  // Inner groups first: an element around posts is not a post itself.
  for (const [parent, count] of [...dateCounts].toReversed()) {
    if (count < 2) continue;
    for (const [shape, group] of groupsOf(parent, dateCounts)) {
      const posts = postsOf(group, found, dateCounts);
      if (posts.length === 0) continue;
      shapes.add(shape);
      for (const post of posts) found.set(post.element, post);
    }
  }
  if (found.size === 0) return undated();
  addLoneReplies(found, shapes, dateCounts);
  const posts = inOrder(root, found);
  const opening = findOpening(posts, dateCounts);
  return opening === null ? posts : [opening, ...posts];
}

/** Minimum number of posts without dates that form a thread. */
const MIN_UNDATED_POSTS = 3;

/** Finds articles that begin with their author: some site generators add the dates only by JavaScript. */
function postsWithoutDates(root: Document, leftOut: ReadonlySet<PageElement>): Post[] {
  let posts: Post[] = [];
  const visit = (parent: ParentNode): void => {
    const articles = parent.children.filter((child) => isElement(child) && child.name === 'article') as PageElement[];
    if (articles.length >= MIN_UNDATED_POSTS && posts.length === 0) {
      const parts = articles.flatMap((article) => readPost(article, () => false) ?? []);
      const withAuthor = parts.filter((post) => !isTeaser(post) && beginsWithAuthor(post));
      if (withAuthor.length === articles.length) posts = withAuthors(withAuthor);
    }
    for (const child of parent.children)
      if (isElement(child) && !leftOut.has(child) && (child.holds & HOLDS.block) !== 0) visit(child);
  };
  visit(root);
  return posts;
}

/** Whether a post begins with a name that markup identifies as the author. */
function beginsWithAuthor({ element, authors }: PostParts): boolean {
  const names = authors.flatMap(({ element: name, rank }) => (name !== null && rank <= 2 ? [name] : []));
  let node: ParentNode | undefined = element;
  while (node !== undefined && !names.includes(node as PageElement))
    node = node.children.find((child) => isElement(child) && child.textLength > 0) as PageElement | undefined;
  return node !== undefined;
}

/** Number of dates in each element that has any, in document order. */
type DateCounts = ReadonlyMap<ParentNode, number>;

/** Counts the dates in each element. */
function countDates(root: Document, leftOut: ReadonlySet<PageElement>): DateCounts {
  const dateCounts = new Map<ParentNode, number>();
  const visit = (parent: ParentNode): number => {
    dateCounts.set(parent, 0);
    let count = isElement(parent) && readDate(parent) !== null ? 1 : 0;
    for (const child of parent.children) {
      if (!isElement(child) || leftOut.has(child)) continue;
      if ((child.holds & HOLDS.date) !== 0 || DATE_TAGS.has(child.name)) count += visit(child);
    }
    if (count === 0) dateCounts.delete(parent);
    else dateCounts.set(parent, count);
    return count;
  };
  visit(root);
  return dateCounts;
}

/** Elements that may contain a date without text. */
const DATE_TAGS = new Set(['time', 'meta']);

/** Groups the children with text by their shape. */
function groupsOf(parent: ParentNode, dateCounts: DateCounts): [shape: string, group: PageElement[]][] {
  const groups = new Map<string, PageElement[]>();
  let dated = 0;
  for (const child of parent.children) if (dateCounts.has(child as PageElement)) dated += 1;
  if (dated < 2) return [];
  for (const child of parent.children) {
    if (!isElement(child) || child.textLength === 0) continue;
    const shape = shapeOf(child);
    const group = groups.get(shape);
    if (group === undefined) groups.set(shape, [child]);
    else group.push(child);
  }
  return [...groups].filter(([, group]) => group.filter((child) => dateCounts.has(child)).length >= 2);
}

/** Returns the posts of elements of one shape; none if too few of them are posts. */
function postsOf(group: readonly PageElement[], found: ReadonlyMap<PageElement, Post>, dateCounts: DateCounts): Post[] {
  const [sample] = group;
  if (sample === undefined || TAGS_INSIDE_POSTS.has(sample.name)) return [];
  const parts = group.flatMap((element) => {
    const post = dateCounts.has(element) ? readPost(element, (inner) => found.has(inner)) : null;
    return post === null || post.dates.length === 0 ? [] : [post];
  });
  if (parts.length < 2 || parts.length < MIN_POST_SHARE * group.length) return [];
  const length = group.reduce((sum, { textLength, linkLength }) => sum + textLength - linkLength, 0);
  if (length < MIN_MEAN_LENGTH * group.length) return [];
  const written = parts.filter(({ element }) => element.proseLength > 0).length;
  if (written === 0 || written < parts.length / (sample.name === 'tr' ? 2 : parts.every(isMarked) ? 20 : 4)) return [];
  if (parts.filter(isTeaser).length > parts.length / 2) return [];
  return withAuthors(parts);
}

/** Whether a class or an attribute, in addition to the text, marks the author and the date. */
const isMarked = ({ authors, dates }: PostParts): boolean =>
  authors.some(({ rank }) => rank <= 2) && dates.some(({ rank }) => rank <= 1);

/** Elements that are part of a post even if they name an author, such as quotes. */
const TAGS_INSIDE_POSTS = new Set(['aside', 'blockquote', 'q', 'dd', 'dt', 'td']);

/**
 * Chooses the best rank of evidence (AuthorMark) for which at least MIN_POST_SHARE of the posts name an author, and
 * returns the posts that name one. Without such a rank, returns no posts. At ranks 3 and 4 only the address of a link
 * or the tag of the text suggests an author, so there must be at least two different names.
 */
function withAuthors(parts: readonly PostParts[]): Post[] {
  for (const rank of [0, 1, 2, 3, 4]) {
    const names = parts.flatMap(({ authors }) => authors.find((author) => author.rank === rank)?.text ?? []);
    if (names.length < MIN_POST_SHARE * parts.length || (rank >= 3 && new Set(names).size < 2)) continue;
    return parts.flatMap((post) => {
      const [author] = post.authors.toSorted((a, b) => Math.abs(a.rank - rank) - Math.abs(b.rank - rank));
      return author === undefined ? [] : [{ ...post, author, date: chooseDate(post.dates, author) }];
    });
  }
  return [];
}

/** Adds replies that are alone in their list. */
function addLoneReplies(found: Map<PageElement, Post>, shapes: ReadonlySet<string>, dateCounts: DateCounts): void {
  for (const element of dateCounts.keys()) {
    if (!isElement(element) || found.has(element) || !shapes.has(shapeOf(element))) continue;
    const post = completed(
      readPost(element, (inner) => dateCounts.has(inner) && shapes.has(shapeOf(inner))),
      2,
    );
    if (post !== null) found.set(element, post);
  }
}

/**
 * Finds the post that opened the thread: an earlier sibling of the first post or of an element around it, with an
 * author and a date.
 */
function findOpening(posts: readonly Post[], dateCounts: DateCounts): Post | null {
  const ancestors = new Set<ParentNode>();
  for (const { element } of posts)
    for (let node: ParentNode | null = element; node !== null && !ancestors.has(node); node = node.parent)
      ancestors.add(node);
  for (
    let node: ParentNode | null = posts[0]?.element ?? null;
    isElement(node) && node.name !== 'body';
    node = node.parent
  ) {
    for (let before = node.prev; before !== null; before = before.prev) {
      if (!isElement(before) || before.proseLength === 0 || !dateCounts.has(before) || ancestors.has(before)) continue;
      const post = completed(
        readPost(before, () => false),
        3,
      );
      if (post !== null) return post;
    }
  }
  return null;
}

/**
 * Returns the post with its author and date; null if one of them is missing, or if the rank of the author's evidence is
 * above `maxRank` (0 is the best evidence).
 */
function completed(parts: PostParts | null, maxRank: number): Post | null {
  const [author] = parts?.authors.toSorted((a, b) => a.rank - b.rank) ?? [];
  if (parts === null || author === undefined || author.rank > maxRank || parts.dates.length === 0) return null;
  return { ...parts, author, date: chooseDate(parts.dates, author) };
}

function inOrder(root: Document, found: ReadonlyMap<PageElement, Post>): Post[] {
  const posts: Post[] = [];
  const visit = (parent: ParentNode): void => {
    for (const child of parent.children) {
      if (!isElement(child)) continue;
      const post = found.get(child);
      if (post !== undefined) posts.push(post);
      visit(child);
    }
  };
  visit(root);
  return posts;
}

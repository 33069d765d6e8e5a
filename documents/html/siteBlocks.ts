import { createHash } from 'node:crypto';
import type { Document, ParentNode } from 'domhandler';
import type { RepeatedBlocks, SiteEvidence } from '../types.js';
import type { Selection } from './mainText/findMainText.js';
import { isBlock } from './mainText/pageMeasures.js';
import { findRepeats, signatureOf } from './mainText/repeats.js';
import { removeBareHeadings } from './mainText/scoreBlocks.js';
import { countText, HOLDS, isElement, isText, type PageElement, visibleLength } from './tree/pageElement.js';
import { HEADINGS, PREFORMATTED } from './tree/tagSets.js';

/** Minimum number of visible characters of a block. Shorter ones are labels of the content, such as "Return value". */
const MIN_BLOCK_LENGTH = 20;
/** Maximum number of visible characters of a block. In a larger element, the inner blocks are compared instead. */
const MAX_BLOCK_LENGTH = 10_000;
/** Maximum number of blocks of a page, the outermost first. */
const MAX_BLOCKS = 1_000;
/**
 * Share of the text that must remain. Otherwise the repeated text is the content, as in a list with one changing
 * number.
 */
const KEPT_SHARE = 0.5;
/** Number of visible characters that must remain. */
const KEPT_LENGTH = 50;

/**
 * Elements that are never removed as repeated blocks. `html` to `article` contain the page or its content. The others
 * are code, or parts of a table, list, figure, form or section: they are removed with a block around them, and headings
 * also if nothing remains below them. For example, without one cell the other cells of its row would move to other
 * columns.
 */
const NO_BLOCKS = new Set([
  ...['html', 'body', 'main', 'article', 'li', 'dt', 'dd', 'tr', 'td', 'th', 'tbody', 'thead', 'tfoot', 'caption'],
  ...['figcaption', 'legend', 'summary', 'option', 'optgroup', 'hr', 'br'],
  ...HEADINGS,
  ...PREFORMATTED,
]);
/** Elements inside which no blocks are searched: code, and single lines of text. */
const WITHOUT_INNER_BLOCKS = new Set([...PREFORMATTED, ...HEADINGS, 'p', 'caption', 'figcaption', 'legend', 'summary']);
/**
 * Parts of lists and tables. They are examined only if they contain sections, as layouts made of tables and lists do.
 */
const LIST_AND_TABLE_PARTS = new Set(['li', 'dt', 'dd', 'td', 'th']);
const SECTIONS = HOLDS.heading | HOLDS.list;

/** Number of kept visible characters of each element. */
type Lengths = ReadonlyMap<PageElement, number>;

function measure(parent: ParentNode, leftOut: ReadonlySet<PageElement>, lengths: Map<PageElement, number>): number {
  let sum = 0;
  for (const child of parent.children) {
    if (isText(child)) {
      countText(child);
      sum += child.visibleLength;
    } else if (isElement(child) && !leftOut.has(child)) {
      const length = measure(child, leftOut, lengths) + visibleLength(altOf(child));
      lengths.set(child, length);
      sum += length;
    }
  }
  return sum;
}

const altOf = ({ name, attribs }: PageElement): string => (name === 'img' ? (attribs['alt'] ?? '') : '');

/**
 * Returns the kept text of an element without white space, because the pages of a site can have different white space
 * around the same words. Digits stay: they can be content.
 */
function textOf(element: PageElement, lengths: Lengths): string {
  let text = altOf(element);
  for (const child of element.children) {
    if (isText(child)) text += child.data;
    else if (isElement(child) && (lengths.get(child) ?? 0) > 0) text += textOf(child, lengths);
  }
  return text.replaceAll(/\s+/g, '');
}

/** Returns the tags around an element, without their positions: an equal text inside other tags is another block. */
function pathOf(element: PageElement): string {
  let path = element.name;
  for (let node = element.parent; node !== null && isElement(node); node = node.parent) path = `${node.name}/${path}`;
  return path;
}

/**
 * Returns the id of a block: its length, and a hash of host, place and text. A block whose length is in no id of a
 * repeated block needs no hash.
 */
function idOf(element: PageElement, length: number, lengths: Lengths, host: string): string {
  const hash = createHash('sha256').update(`${host}\n${pathOf(element)}\n${textOf(element, lengths)}`);
  return `${length.toString(36)}.${hash.digest('base64url').slice(0, 12)}`;
}

/**
 * Calls `visit` for each kept block of a page, the outermost first; true skips the blocks in it.
 * @param lengths their lengths, from `measure`
 */
function eachBlock(root: Document, lengths: Lengths, visit: (block: PageElement, length: number) => boolean): void {
  let found = 0;
  const waiting: ParentNode[] = [root];
  for (const parent of waiting) {
    const series = findRepeats(parent)?.signature ?? '';
    for (const child of parent.children) {
      if (!isElement(child) || !isBlock(child)) continue;
      const length = lengths.get(child) ?? 0;
      if (length < MIN_BLOCK_LENGTH) continue;
      // Elements of one class in a row, such as lines of code, are treated like items of a list, not as blocks.
      const isInSeries = child.name !== 'p' && !series.endsWith('.') && signatureOf(child) === series;
      const isPart = isInSeries || LIST_AND_TABLE_PARTS.has(child.name);
      if (length <= MAX_BLOCK_LENGTH && !isPart && !NO_BLOCKS.has(child.name)) {
        if (++found > MAX_BLOCKS) return;
        if (visit(child, length)) continue;
      }
      if (!WITHOUT_INNER_BLOCKS.has(child.name) && (!isPart || (child.holds & SECTIONS) !== 0)) waiting.push(child);
    }
  }
}

/** Returns the ids of the blocks of a page's main text, without duplicates. */
export function listBlocks(root: Document, { leftOut }: Selection, host: string): string[] {
  const lengths = new Map<PageElement, number>();
  measure(root, leftOut, lengths);
  const ids = new Set<string>();
  eachBlock(root, lengths, (block, length) => {
    ids.add(idOf(block, length, lengths, host));
    return false;
  });
  return [...ids];
}

/**
 * Removes the blocks that the site repeats, and headings that would have nothing below them. A page that would lose
 * most of its text keeps all of it.
 */
export function withoutRepeated(
  root: Document,
  selection: Selection,
  { host, repeated }: SiteEvidence,
): { readonly selection: Selection; readonly removed: RepeatedBlocks | null } {
  const unchanged = { selection, removed: null };
  if (repeated.length === 0) return unchanged;
  const ids = new Set(repeated);
  const repeatedLengths = new Set(repeated.map((id) => Number.parseInt(id, 36)));
  const lengths = new Map<PageElement, number>();
  const all = measure(root, selection.leftOut, lengths);
  const blocks: PageElement[] = [];
  eachBlock(root, lengths, (block, length) => {
    if (!repeatedLengths.has(length) || !ids.has(idOf(block, length, lengths, host))) return false;
    blocks.push(block);
    return true;
  });
  if (blocks.length === 0) return unchanged;
  const leftOut = new Set([...selection.leftOut, ...blocks]);
  for (const parent of new Set(blocks.map((block) => block.parent)))
    if (parent !== null) removeBareHeadings(parent, leftOut);
  let characters = 0;
  for (const element of leftOut) if (!selection.leftOut.has(element)) characters += lengths.get(element) ?? 0;
  const remainingCharacters = all - characters;
  if (remainingCharacters < KEPT_LENGTH || remainingCharacters < KEPT_SHARE * all) return unchanged;
  return { selection: { ...selection, leftOut }, removed: { blocks: blocks.length, characters } };
}

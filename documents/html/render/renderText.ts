import type { ChildNode, ParentNode } from 'domhandler';
import { listingLines } from './codeListing.js';
import { isCell } from './layoutTable.js';
import { ItemNumbers, listOf, previousElement } from './listItems.js';
import { HOLDS, isElement, type PageElement } from '../tree/pageElement.js';
import { brokenCodeLines, inlineCode, preformattedLines } from './renderCode.js';
import { mathLine } from './renderMath.js';
import { PostBorder } from '../posts/placePosts.js';
import { isLooseSeparator, isSeparateWord, shallowTextOf } from './separateWords.js';
import { readTable, tableLines } from './tableParts.js';
import { BLOCKS, CONTROLS, HEADINGS, INLINE_CODE, PREFORMATTED } from '../tree/tagSets.js';
import { TextWriter } from './textWriter.js';

/** The state of one rendering. */
interface Rendering {
  readonly writer: TextWriter;
  readonly leftOut: ReadonlySet<PageElement>;
  readonly limit: number;
  readonly numbers: ItemNumbers;
  /** Whether the text is written in one line: for headings, cells and inline code. */
  readonly oneLine: boolean;
  /** Whether the node is inside inline code, where nested code has no effect. */
  readonly inCode: boolean;
}

/** The text of a page. */
export interface RenderedText {
  readonly text: string;
  /** Offsets of the text at which a post begins or ends, ascending. */
  readonly sections: readonly number[];
}

/**
 * Renders nodes as Markdown-like text. Recursion is safe: buildTree limits the depth of the tree.
 * @throws Fault too_large if the text exceeds the limit
 */
export function renderText(
  nodes: readonly ParentNode[],
  leftOut: ReadonlySet<PageElement>,
  limit: number,
): RenderedText {
  const writer = new TextWriter(limit);
  const rendering: Rendering = { writer, leftOut, limit, numbers: new ItemNumbers(), oneLine: false, inCode: false };
  for (const node of nodes) {
    if (isElement(node)) renderNode(node, rendering);
    else renderChildren(node, rendering);
  }
  return { text: writer.text, sections: writer.sections };
}

function renderChildren(parent: ParentNode, rendering: Rendering): void {
  for (const child of parent.children) renderNode(child, rendering);
}

/** Renders nodes in one line. */
function lineOf(nodes: readonly ChildNode[], rendering: Rendering): string {
  const writer = new TextWriter(rendering.limit);
  for (const node of nodes) renderNode(node, { ...rendering, writer, oneLine: true });
  return writer.text;
}

function renderNode(node: ChildNode, rendering: Rendering): void {
  if ('data' in node) {
    if (!isLooseSeparator(node, rendering.leftOut)) rendering.writer.inline(node.data);
  } else if (isElement(node) && !rendering.leftOut.has(node)) {
    if (!rendering.inCode && isSeparateWord(node)) rendering.writer.space();
    renderElement(node, rendering);
  }
}

/** Elements whose text is not part of the page; titles are metadata. */
const NO_TEXT = new Set(['title', 'meta', 'link', 'base', 'annotation', 'annotation-xml']);

function renderElement(element: PageElement, rendering: Rendering): void {
  const { writer } = rendering;
  const { name } = element;
  if (element instanceof PostBorder) writer.section(element.kind);
  if (NO_TEXT.has(name) || CONTROLS.has(name)) return;
  if (name === 'img') renderImage(element, writer);
  else if (name === 'math') writer.inline(mathLine(element));
  else if (name === 'ruby') renderRuby(element, rendering);
  else if (INLINE_CODE.has(name) && !rendering.inCode) renderInlineCode(element, rendering);
  else if (name === 'a' && isNoteMark(element)) writer.inline(`[${textOfNoteMark(element)}]`);
  else if (name === 'sup') renderSuperscript(element, rendering);
  else if (name === 'q' && element.textLength > 0) renderQuotation(element, rendering);
  else if (!BLOCKS.has(name) && name !== 'br') renderChildren(element, rendering);
  else if (rendering.oneLine) {
    writer.space();
    renderChildren(element, rendering);
    writer.space();
  } else if (name === 'br') writer.lineBreak();
  else if (name === 'li') renderItem(element, rendering);
  else if (name === 'dt' || name === 'dd') renderDefinition(element, rendering);
  else renderBlock(element, rendering);
}

function renderBlock(element: PageElement, rendering: Rendering): void {
  const { writer, leftOut } = rendering;
  const { name } = element;
  if (startsTight(element)) writer.tightNewline();
  else writer.newline(2);
  if (HEADINGS.has(name)) renderHeading(element, rendering);
  else if (PREFORMATTED.has(name)) writer.lines(preformattedLines(element, leftOut));
  else if (name === 'table') renderTable(element, rendering);
  else if (name === 'blockquote' && (element.holds & NOT_QUOTED) === 0) {
    writer.open('> ');
    renderChildren(element, rendering);
    writer.close();
  } else if (isList(element) && isList(element.parent)) {
    // Word processors write nested list items in this way.
    writer.open('  ');
    renderChildren(element, rendering);
    writer.close();
  } else {
    const listing = name === 'div' ? listingLines(element, leftOut) : null;
    if (listing === null) renderChildren(element, rendering);
    else writer.lines(listing);
  }
  writer.newline(2);
}

/** Old pages use blockquote to indent code, tables and lists. */
const NOT_QUOTED = HOLDS.preformatted | HOLDS.table | HOLDS.list | HOLDS.heading;

/**
 * Whether a block starts without an empty line before it: a list inside a list item, or a short div after another short
 * div.
 */
function startsTight(element: PageElement): boolean {
  if (element.name === 'div') return isLineDiv(element) && isLineDiv(previousElement(element));
  const { parent } = element;
  return isList(element) && parent !== null && isElement(parent) && parent.name === 'li';
}

const isList = (node: ChildNode | PageElement['parent']): boolean =>
  node !== null && isElement(node) && (node.name === 'ul' || node.name === 'ol');

/** Whether the element is a short div, as in tables of contents and addresses; longer ones are paragraphs. */
function isLineDiv(element: PageElement | null): boolean {
  return (
    element?.name === 'div' && element.textLength > 0 && element.textLength < 80 && (element.holds & HOLDS.block) === 0
  );
}

function renderHeading(element: PageElement, rendering: Rendering): void {
  // A heading without an end tag contains the whole chapter: only its own line is the heading.
  const isBlock = (node: ChildNode): boolean =>
    isElement(node) && (BLOCKS.has(node.name) || (node.holds & HOLDS.block) !== 0);
  const firstBlock = element.children.findIndex(isBlock);
  const end = firstBlock === -1 ? element.children.length : firstBlock;
  const line = lineOf(element.children.slice(0, end), rendering);
  if (line !== '') rendering.writer.inline(`${'#'.repeat(Number(element.name.slice(1)))} ${line}`);
  rendering.writer.newline(2);
  for (const child of element.children.slice(end)) renderNode(child, rendering);
}

function renderItem(item: PageElement, rendering: Rendering): void {
  const { writer } = rendering;
  const list = listOf(item);
  const isFirst = previousElement(item)?.name !== 'li';
  if (!isFirst || (list !== null && startsTight(list))) writer.tightNewline();
  else writer.newline(list === null ? 1 : 2);
  const marker = list?.name === 'ol' ? `${rendering.numbers.next(item, list)}. ` : '- ';
  writer.open(' '.repeat(marker.length), marker);
  renderChildren(item, rendering);
  writer.close();
  writer.newline(1);
}

function renderDefinition(element: PageElement, rendering: Rendering): void {
  const { writer } = rendering;
  const list = element.parent;
  const hasTerms = list !== null && isElement(list) && (list.holds & HOLDS.term) !== 0;
  if (element.name === 'dt' || !hasTerms) {
    writer.newline(2);
    renderChildren(element, rendering);
    writer.newline(element.name === 'dt' ? 1 : 2);
    return;
  }
  writer.tightNewline();
  writer.open('  ', ': ');
  renderChildren(element, rendering);
  writer.close();
  writer.newline(2);
}

function renderTable(table: PageElement, rendering: Rendering): void {
  const { writer, leftOut } = rendering;
  const { captions, rows, isLine, content } = readTable(table, leftOut);
  for (const caption of captions) {
    renderChildren(caption, rendering);
    writer.newline(2);
  }
  if (rows !== null) {
    writer.lines(tableLines(rows, (cell) => lineOf(cell.children, rendering)));
    return;
  }
  if (isLine) {
    writer.inline(lineOf(content.flat(), rendering));
    return;
  }
  for (const part of content) {
    const isRow = 'length' in part;
    if (isRow || isCell(part)) writer.newline(2);
    if (isRow) writer.inline(lineOf(part, rendering));
    else if (isCell(part)) renderChildren(part, rendering);
    else renderNode(part, rendering);
    if (isRow || isCell(part)) writer.newline(2);
  }
}

function renderInlineCode(element: PageElement, rendering: Rendering): void {
  const { writer, leftOut, oneLine } = rendering;
  // Around blocks, a code element only changes the font.
  if (!oneLine && (element.holds & HOLDS.block) !== 0) renderChildren(element, rendering);
  else if (!oneLine && (element.holds & HOLDS.lineBreak) !== 0) {
    writer.newline(2);
    writer.lines(brokenCodeLines(element, leftOut));
    writer.newline(2);
  } else {
    // A space at an end of the code separates it from the text next to it.
    if (hasSpaceAt(element, 'first')) writer.space();
    writer.inline(inlineCode(lineOf(element.children, { ...rendering, inCode: true })));
    if (hasSpaceAt(element, 'last')) writer.space();
  }
}

/** Whether the text of an element begins or ends with white space. */
function hasSpaceAt(element: PageElement, end: 'first' | 'last'): boolean {
  const node = end === 'first' ? element.firstChild : element.lastChild;
  if (node === null) return false;
  if ('data' in node) return (end === 'first' ? /^\s/ : /\s$/).test(node.data);
  return isElement(node) && hasSpaceAt(node, end);
}

const NOTE_ROLE = /(?:^|\s)(?:doc-)?noteref(?:\s|$)/;

/** Whether a link is marked as the number of a note, as in books, with or without a superscript element. */
const isNoteMark = (link: PageElement): boolean =>
  NOTE_ROLE.test(link.attribs['epub:type'] ?? link.attribs['role'] ?? '') && textOfNoteMark(link) !== '';

/** Returns the number of a note; '' if the link has other text. */
function textOfNoteMark(link: PageElement): string {
  const text = link.textLength > 4 ? '' : shallowTextOf(link).trim();
  return /^\d{1,3}$/.test(text) ? text : '';
}

/**
 * Renders superscript text with a separator: 2 to the 48th must not become 248, and a footnote number, which is a link,
 * must not become part of the word before it.
 */
function renderSuperscript(element: PageElement, rendering: Rendering): void {
  const { writer } = rendering;
  const { parent } = element;
  const text = element.textLength > 4 ? '' : shallowTextOf(element).trim();
  const isLink =
    element.links > 0 || (isElement(parent) && parent.name === 'a' && parent.attribs['href'] !== undefined);
  if (isLink && /^\d{1,3}$/.test(text)) writer.inline(`[${text}]`);
  else if (!isLink && POWER.test(text) && POWER_BASE.test(writer.lineTail)) writer.inline(`^${text}`);
  else renderChildren(element, rendering);
}

const POWER = /^[-+−]?(?:\d+|[nNkmxyi])$/;
const POWER_BASE = /(?:\d|\)|(?:^|[^\p{L}])[a-zA-Z])$/u;

/** Renders the marks that browsers show around a quotation in a sentence. */
function renderQuotation(element: PageElement, rendering: Rendering): void {
  rendering.writer.inline('“');
  renderChildren(element, rendering);
  rendering.writer.inline('”');
}

/** Renders annotated characters as the word and its reading in parentheses: 東京(とうきょう). */
function renderRuby(element: PageElement, rendering: Rendering): void {
  const { writer } = rendering;
  let reading = '';
  for (const child of element.children) {
    if (isElement(child) && READINGS.has(child.name)) reading += lineOf([child], rendering);
    else if (!isElement(child) || child.name !== 'rp') renderNode(child, rendering);
  }
  if (reading !== '') writer.inline(`(${reading})`);
}

const READINGS = new Set(['rt', 'rtc']);

function renderImage(element: PageElement, writer: TextWriter): void {
  const alt = element.attribs['alt'] ?? '';
  if (alt === '' || element.attribs['role'] === 'presentation' || /^\S+\.(?:jpe?g|png|gif|webp|svg)$/i.test(alt))
    return;
  writer.space();
  writer.inline(alt);
  writer.space();
}

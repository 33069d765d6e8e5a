import type { ChildNode, ParentNode } from 'domhandler';
import { visibleLength } from './measureText.js';
import { HOLDS, isElement, type PageElement } from './pageElement.js';
import { renderTable } from './renderTable.js';
import { BLOCKS, CONTROLS, HEADINGS, INLINE_CODE, PREFORMATTED } from './tagSets.js';
import { removeInvisible, TextWriter } from './textWriter.js';

/** One rendering: where text goes and what is not to be in it. */
export interface Rendering {
  readonly writer: TextWriter;
  readonly leftOut: ReadonlySet<PageElement>;
  readonly limit: number;
  /** All in one line: headings, cells, inline code. */
  readonly oneLine: boolean;
  /** Inside inline code, where a second one adds nothing. */
  readonly inCode: boolean;
}

/**
 * The text below the nodes, Markdown-like. Throws a Fault too_large once it is longer than the limit.
 * Recursion is safe: the tree's depth is bounded when it is built.
 */
export function renderText(nodes: readonly ParentNode[], leftOut: ReadonlySet<PageElement>, limit: number): string {
  const writer = new TextWriter(limit);
  const rendering: Rendering = { writer, leftOut, limit, oneLine: false, inCode: false };
  for (const node of nodes) {
    if (isElement(node)) renderNode(node, rendering);
    else renderChildren(node, rendering);
  }
  return writer.text;
}

export function renderChildren(parent: ParentNode, rendering: Rendering): void {
  for (const child of parent.children) renderNode(child, rendering);
}

/** The nodes' text in one line. */
export function renderLine(nodes: readonly ChildNode[], rendering: Omit<Rendering, 'writer' | 'oneLine'>): string {
  const writer = new TextWriter(rendering.limit);
  for (const node of nodes) renderNode(node, { ...rendering, writer, oneLine: true });
  return writer.text;
}

export function renderNode(node: ChildNode, rendering: Rendering): void {
  if ('data' in node) rendering.writer.inline(node.data);
  else if (isElement(node) && !rendering.leftOut.has(node)) renderElement(node, rendering);
}

function renderElement(element: PageElement, rendering: Rendering): void {
  const { writer } = rendering;
  const { name } = element;
  if (NO_TEXT.has(name) || CONTROLS.has(name)) return;
  if (name === 'img') renderImage(element, writer);
  else if (name === 'math' && element.attribs['alttext'] !== undefined) writer.inline(element.attribs['alttext']);
  else if (isInlineCode(element, rendering)) writer.inline(asCode(renderLine(element.children, { ...rendering, inCode: true })));
  else if (!BLOCKS.has(name) && name !== 'br') renderChildren(element, rendering);
  else if (rendering.oneLine) {
    writer.space();
    renderChildren(element, rendering);
    writer.space();
  } else if (name === 'br') writer.lineBreak();
  else renderBlock(element, rendering);
}

/** Titles are metadata; the rest holds no text of the page. */
const NO_TEXT = new Set(['title', 'meta', 'link', 'base', 'annotation', 'annotation-xml']);

function renderBlock(element: PageElement, rendering: Rendering): void {
  const { writer } = rendering;
  const { name } = element;
  if (name === 'li') renderItem(element, rendering);
  else if (name === 'dt' || name === 'dd') renderDefinition(element, rendering);
  else {
    writer.newline(startsTight(element) ? 1 : 2);
    if (HEADINGS.has(name)) renderHeading(element, rendering);
    else if (PREFORMATTED.has(name)) renderPreformatted(element, rendering);
    else if (name === 'table') renderTable(element, rendering);
    else if (name === 'blockquote' && !holdsOnlyBlocks(element)) {
      writer.open('> ');
      renderChildren(element, rendering);
      writer.close();
    } else renderChildren(element, rendering);
    writer.newline(2);
  }
}

/** A list inside a list item follows its text in the next line. */
function startsTight(element: PageElement): boolean {
  const parent = element.parent;
  return (element.name === 'ul' || element.name === 'ol') && parent !== null && isElement(parent) && parent.name === 'li';
}

/** Old pages indent code, tables and lists by quoting them. */
function holdsOnlyBlocks(quote: PageElement): boolean {
  if ((quote.holds & (HOLDS.preformatted | HOLDS.table | HOLDS.list | HOLDS.heading)) === 0) return false;
  return quote.children.every((child) =>
    isElement(child) ? BLOCKS.has(child.name) && child.name !== 'p' : !('data' in child) || visibleLength(child.data) === 0,
  );
}

function renderHeading(element: PageElement, rendering: Rendering): void {
  // A heading whose end tag is missing holds the chapter: only its own line is the heading.
  const firstBlock = element.children.findIndex((child) => isElement(child) && (BLOCKS.has(child.name) || (child.holds & HOLDS.block) !== 0));
  const line = renderLine(firstBlock === -1 ? element.children : element.children.slice(0, firstBlock), rendering);
  if (line !== '') rendering.writer.inline(`${'#'.repeat(Number(element.name.slice(1)))} ${line}`);
  if (firstBlock === -1) return;
  rendering.writer.newline(2);
  for (const child of element.children.slice(firstBlock)) renderNode(child, rendering);
}

function renderItem(item: PageElement, rendering: Rendering): void {
  const { writer } = rendering;
  const previous = previousItem(item);
  const list = item.parent;
  const nested = list !== null && isElement(list) && startsTight(list);
  if (previous !== null || nested) writer.tightNewline();
  else writer.newline(list !== null && isElement(list) && (list.name === 'ul' || list.name === 'ol') ? 2 : 1);
  const marker = list !== null && isElement(list) && list.name === 'ol' ? `${itemNumber(item, list)}. ` : '- ';
  writer.open(' '.repeat(marker.length), marker);
  renderChildren(item, rendering);
  writer.close();
  writer.newline(1);
}

function previousItem(element: PageElement): PageElement | null {
  for (let previous = element.prev; previous !== null; previous = previous.prev) {
    if (isElement(previous)) return previous.name === element.name ? previous : null;
  }
  return null;
}

const itemNumbers = new WeakMap<PageElement, number>();

function itemNumber(item: PageElement, list: PageElement): number {
  const own = Number.parseInt(item.attribs['value'] ?? '', 10);
  const previous = previousItem(item);
  const first = Number.parseInt(list.attribs['start'] ?? '1', 10);
  const counted = previous === null ? first : (itemNumbers.get(previous) ?? 0) + 1;
  const number = Number.isSafeInteger(own) ? own : Number.isSafeInteger(counted) ? counted : 1;
  itemNumbers.set(item, number);
  return number;
}

function renderDefinition(element: PageElement, rendering: Rendering): void {
  const { writer } = rendering;
  const list = element.parent;
  const hasTerms = list !== null && isElement(list) && (list.holds & HOLDS.term) !== 0;
  if (element.name === 'dt' || !hasTerms) {
    writer.newline(2);
    renderChildren(element, rendering);
    writer.newline(element.name === 'dt' ? 1 : 2);
  } else {
    writer.tightNewline();
    writer.open('  ', ': ');
    renderChildren(element, rendering);
    writer.close();
    writer.newline(2);
  }
}

function renderPreformatted(element: PageElement, rendering: Rendering): void {
  const text = removeInvisible(rawText(element, rendering.leftOut).replace(/\r\n?/g, '\n').replaceAll('\u00a0', ' '));
  const lines = text.split('\n').map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line !== '');
  if (first === -1) return;
  const last = lines.findLastIndex((line) => line !== '');
  let fence = '```';
  for (const [run] of text.matchAll(/^[ \t]*`{3,}/gm)) if (run.trim().length >= fence.length) fence = `${run.trim()}\``;
  rendering.writer.lines([fence + languageOf(element), ...lines.slice(first, last + 1), fence]);
}

/** The language that highlighters note on the block or on the code element inside. */
function languageOf(element: PageElement): string {
  const inner = element.children.find((child) => isElement(child) && child.name === 'code');
  const classes = `${element.attribs['class'] ?? ''} ${inner !== undefined && isElement(inner) ? (inner.attribs['class'] ?? '') : ''}`;
  return /(?:^|\s)(?:language|lang|highlight-source|brush:)-?\s?([\w+#.-]{1,20})/.exec(classes)?.[1] ?? '';
}

function rawText(parent: ParentNode, leftOut: ReadonlySet<PageElement>): string {
  let text = '';
  for (const child of parent.children) {
    if ('data' in child) text += child.data;
    else if (isElement(child) && !leftOut.has(child)) {
      if (child.name === 'br') text += '\n';
      else if (child.name === 'img') text += child.attribs['alt'] ?? '';
      else text += rawText(child, leftOut);
    }
  }
  return text;
}

/** Around blocks a code element is a matter of looks. */
function isInlineCode(element: PageElement, { oneLine, inCode }: Rendering): boolean {
  return INLINE_CODE.has(element.name) && !inCode && (oneLine || (element.holds & HOLDS.block) === 0);
}

function asCode(line: string): string {
  if (line === '') return '';
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

function renderImage(element: PageElement, writer: TextWriter): void {
  const alt = element.attribs['alt'] ?? '';
  if (alt === '' || element.attribs['role'] === 'presentation' || /^\S+\.(?:jpe?g|png|gif|webp|svg)$/i.test(alt)) return;
  writer.space();
  writer.inline(alt);
  writer.space();
}

/** Splits pages of documentation at their headings. */
import { type ChildNode, isTag, isText } from 'domhandler';
import { selectOne } from 'css-select';
import { parseDocument } from 'htmlparser2';

export interface Section {
  /** Heading without its number; empty for text before the first heading. */
  readonly heading: string;
  /** Text up to the next heading of any level, with an empty line between paragraphs. */
  readonly text: string;
}

export interface PageShape {
  /** Selector of the element with the documentation in a page. */
  readonly main: string;
  /** Classes and ids of elements to skip: menus, tables of contents. */
  readonly skipped: readonly string[];
}

const HEADING = /^h[1-6]$/;
const UNSEEN = new Set(['script', 'style', 'svg', 'nav', 'form', 'head']);
const BLOCKS = new Set(['p', 'div', 'ul', 'ol', 'dl', 'table', 'blockquote', 'pre', 'hr', 'section']);
const LINES = new Set(['li', 'tr', 'dt', 'dd', 'br']);
const NUMBER = /^\s*(?:\d+\.)*\d*\.?\s+/;

const tidy = (text: string): string =>
  text
    .replaceAll(/[ \t]+\n/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();

const headingOf = (text: string): string =>
  text
    .replaceAll(/[¶\s]+/g, ' ')
    .replace(NUMBER, '')
    .trim();

/** Returns the sections of a page, in order, without empty ones. */
export function sectionsOf(html: string, { main, skipped }: PageShape): Section[] {
  const hidden = new Set(skipped);
  const sections: { heading: string; text: string }[] = [{ heading: '', text: '' }];
  const write = (text: string): void => {
    const last = sections.at(-1);
    if (last) last.text += text;
  };

  function plain(node: ChildNode): string {
    if (isText(node)) return node.data;
    return isTag(node) ? node.children.map(plain).join('') : '';
  }

  function walk(node: ChildNode, literal: boolean): void {
    if (isText(node)) {
      write(literal ? node.data : node.data.replaceAll(/\s+/g, ' '));
      return;
    }
    if (!isTag(node)) return;
    const { name, attribs, children } = node;
    const names = [attribs['id'] ?? '', ...(attribs['class'] ?? '').split(/\s+/)];
    if (UNSEEN.has(name) || names.some((label) => hidden.has(label))) return;
    if (HEADING.test(name)) {
      sections.push({ heading: headingOf(plain(node)), text: '' });
      return;
    }
    const edge = BLOCKS.has(name) ? '\n\n' : LINES.has(name) ? '\n' : name === 'td' || name === 'th' ? ' ' : '';
    write(edge);
    for (const child of children) walk(child, literal || name === 'pre');
    write(edge);
  }

  const root = selectOne(main, parseDocument(html).children);
  if (root && isTag(root)) for (const child of root.children) walk(child, false);
  return sections.map(({ heading, text }) => ({ heading, text: tidy(text) })).filter(({ text }) => text !== '');
}

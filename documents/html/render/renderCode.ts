import type { ParentNode } from 'domhandler';
import { isElement, isText, type PageElement } from '../tree/pageElement.js';
import { removeInvisible } from './textWriter.js';

/** Returns preformatted text as the lines of a code fence; none if it is blank. */
export function preformattedLines(element: PageElement, leftOut: ReadonlySet<PageElement>): string[] {
  return fenced(
    rawText(element, leftOut, (data) => data.replace(/\r\n?/g, '\n')),
    languageOf(element),
  );
}

/**
 * Returns the lines of code that is formatted with `<br>` and no-break spaces, as on pages from before `<pre>` was
 * common.
 */
export function brokenCodeLines(element: PageElement, leftOut: ReadonlySet<PageElement>): string[] {
  const source = rawText(element, leftOut, (data) => data.replace(/[ \t\r\n]+/g, ' '));
  return fenced(source.replace(/ ?\n ?/g, '\n'), '');
}

/** Returns a text as the lines of a code fence; none if it is blank. */
export function fenced(source: string, language: string): string[] {
  const text = removeInvisible(source.replaceAll('\u00a0', ' '));
  const lines = text.split('\n').map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line !== '');
  if (first === -1) return [];
  const last = lines.findLastIndex((line) => line !== '');
  let fence = '```';
  for (const [run] of text.matchAll(/^[ \t]*`{3,}/gm)) if (run.trim().length >= fence.length) fence = `${run.trim()}\``;
  return [fence + language, ...lines.slice(first, last + 1), fence];
}

/** Returns the language that highlighters state on the block, or on an only child inside it. */
function languageOf(element: PageElement): string {
  const found = LANGUAGE.exec(element.attribs['class'] ?? '')?.[1];
  if (found !== undefined) return found;
  const inner = element.children.filter((child) => !isText(child) || child.visibleLength > 0);
  const code = inner.find((child) => isElement(child) && child.name === 'code') ?? inner[0];
  const isNested = code !== undefined && isElement(code) && (code.name === 'code' || inner.length === 1);
  return isNested ? languageOf(code) : '';
}

const LANGUAGE = /(?:^|\s)(?:language|lang|highlight-source|brush:)-?\s?([\w+#.-]{1,20})/;

/** Returns the text of nodes with its white space. */
export function rawText(
  parent: Pick<ParentNode, 'children'>,
  leftOut: ReadonlySet<PageElement>,
  read: (data: string) => string,
): string {
  let text = '';
  for (const child of parent.children) {
    if ('data' in child) text += read(child.data);
    else if (isElement(child) && !leftOut.has(child)) {
      if (child.name === 'br') text += '\n';
      else if (child.name === 'img') text += child.attribs['alt'] ?? '';
      else text += rawText(child, leftOut, read);
    }
  }
  return text;
}

/** Returns a line of code in backticks. */
export function inlineCode(line: string): string {
  if (line === '') return '';
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

import { HOLDS, isElement, isText, type PageElement } from '../tree/pageElement.js';
import { fenced, rawText } from './renderCode.js';

/**
 * Returns a listing of code whose lines are div elements of one class as the lines of a code fence, without line
 * numbers; null for other blocks. Such lines are a listing if several are indented by spaces. They are also one if
 * their class is `line`, at least one ends like a statement, and no class of the block begins with `line`, such as
 * `line-block`, which docutils uses for verse.
 */
export function listingLines(block: PageElement, leftOut: ReadonlySet<PageElement>): string[] | null {
  const lineClass = lineClassOf(block);
  if (lineClass === '') return null;
  const lines: PageElement[] = [];
  if (!addLines(block, lineClass, leftOut, lines)) return null;
  const numbers = lines.map((line) => numberOf(line, leftOut));
  const areNumbered = lines.length > 1 && numbers.every((number, i) => number > (numbers[i - 1] ?? -1));
  const texts = lines.map((line) => {
    const children = areNumbered ? line.children.slice(firstPart(line) + 1) : line.children;
    return rawText({ children }, leftOut, (data) => data).trimEnd();
  });
  // A line of a listing contains no line end. Other divs contain the line ends of their source.
  if (texts.some((text) => text.includes('\n'))) return null;
  const isNamedSo = lineClass === 'line' && !/(?:^|[\s-])line/.test(block.attribs['class'] ?? '');
  const isListing = areIndented(texts) || (isNamedSo && texts.some((text) => /[;{}]$/.test(text)));
  return isListing ? fenced(texts.join('\n'), '') : null;
}

/** Whether at least two lines are indented by spaces, and at least one is not. */
function areIndented(texts: readonly string[]): boolean {
  const indented = texts.filter((text) => text.startsWith('  ') && text.length <= LONGEST_LINE);
  return indented.length > 1 && texts.some((text) => /^\S/.test(text));
}

/** Maximum number of characters of an indented line of code: longer ones may be paragraphs. */
const LONGEST_LINE = 200;

const firstClass = (element: PageElement): string => /\S+/.exec(element.attribs['class'] ?? '')?.[0] ?? '';

/** Returns the class of the first line, which may be in a folded part; '' if the block does not begin with divs. */
function lineClassOf(block: PageElement): string {
  const first = firstDiv(block);
  const line = first !== null && (first.holds & HOLDS.block) !== 0 ? firstDiv(first) : first;
  return line === null || (line.holds & HOLDS.block) !== 0 ? '' : firstClass(line);
}

function firstDiv(parent: PageElement): PageElement | null {
  const first = parent.children.find((child) => isElement(child) || (isText(child) && child.visibleLength > 0));
  return first !== undefined && isElement(first) && first.name === 'div' ? first : null;
}

/** Adds the lines below an element; false if it has other content. */
function addLines(
  parent: PageElement,
  lineClass: string,
  leftOut: ReadonlySet<PageElement>,
  lines: PageElement[],
): boolean {
  for (const child of parent.children) {
    if (isText(child)) {
      if (child.visibleLength > 0) return false;
    } else if (isElement(child) && !leftOut.has(child)) {
      if (child.name !== 'div') return false;
      const isLine = (child.holds & HOLDS.block) === 0;
      if (isLine && firstClass(child) === lineClass) lines.push(child);
      else if (isLine) return false;
      // The folded parts of a listing are divs around lines. Other divs with an id are pop-ups of names in its lines.
      else if (hasLine(child, lineClass)) {
        if (!addLines(child, lineClass, leftOut, lines)) return false;
      } else if (child.attribs['id'] === undefined) return false;
    }
  }
  return true;
}

const hasLine = (parent: PageElement, lineClass: string): boolean =>
  parent.children.some((child) => isElement(child) && firstClass(child) === lineClass);

/** Returns the index of the first child with text. */
const firstPart = (line: PageElement): number =>
  line.children.findIndex((child) =>
    isElement(child) ? child.textLength > 0 : isText(child) && child.visibleLength > 0,
  );

/** Returns the number at the start of a line, which is a span or a link; -1 without one. */
function numberOf(line: PageElement, leftOut: ReadonlySet<PageElement>): number {
  const part = line.children[firstPart(line)];
  if (part === undefined || !isElement(part) || (part.name !== 'span' && part.name !== 'a')) return -1;
  const text = rawText(part, leftOut, (data) => data).trim();
  return /^\d{1,7}$/.test(text) ? Number(text) : -1;
}

import { HOLDS, isElement, type PageElement } from '../../tree/pageElement.js';
import { textIn } from './textIn.js';

/**
 * Whether the text has at least two lines, which are consecutive numbers, and is next to as many lines of code. Other
 * numbers can be the output of a program.
 */
export function isLineNumbers(element: PageElement): boolean {
  const text = textIn(element);
  if (!/^\s*\d+(?:\s*\n\s*\d+)+\s*$/.test(text)) return false;
  const numbers = text.trim().split(/\s+/).map(Number);
  return numbers.every((number, i) => number === (numbers[0] ?? 0) + i) && isNextToCode(element, numbers.length);
}

/** Number of elements around a column of numbers in which the code next to it is looked for. */
const WRAPPERS = 3;

/** Whether the element is in a cell, or the next element has code of at least as many lines. */
function isNextToCode(element: PageElement, lines: number): boolean {
  let node = element;
  for (let depth = 0; depth < WRAPPERS; depth++) {
    if (node.name === 'td' || node.name === 'th') return true;
    let next = node.next;
    while (next !== null && !isElement(next)) next = next.next;
    if (next !== null) {
      const isCode = CODE_TAGS.has(next.name) || (next.holds & HOLDS.preformatted) !== 0;
      // The last line can be empty. With br elements, the lines cannot be counted by their line ends.
      return isCode && ((next.holds & HOLDS.lineBreak) !== 0 || textIn(next).split('\n').length + 1 >= lines);
    }
    if (!isElement(node.parent)) return false;
    node = node.parent;
  }
  return false;
}

const CODE_TAGS = new Set(['pre', 'code']);

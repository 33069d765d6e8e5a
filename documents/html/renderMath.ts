import type { ChildNode } from 'domhandler';
import { isElement, type PageElement } from './pageElement.js';

/**
 * Returns the formula of a MathML element in one line: its alttext, its TeX annotation, else its parts with `^`, `_` and
 * `/`, so that the square of c is not "c2".
 */
export function mathLine(math: PageElement): string {
  return (math.attribs['alttext'] ?? texOf(math) ?? lineOf(math)).replace(/\s+/g, ' ').trim();
}

function texOf(element: PageElement): string | null {
  for (const child of element.children) {
    if (!isElement(child)) continue;
    if (child.name === 'annotation' && /tex/i.test(child.attribs['encoding'] ?? ''))
      return textOf(child).trim() || null;
    const inside = texOf(child);
    if (inside !== null) return inside;
  }
  return null;
}

function textOf(element: PageElement): string {
  return element.children.map((child) => ('data' in child ? child.data : '')).join('');
}

/** Elements of MathML whose other children are above or below the first, with the sign written before each of them. */
const SIGNS: ReadonlyMap<string, readonly string[]> = new Map([
  ['msup', ['^']],
  ['msub', ['_']],
  ['msubsup', ['_', '^']],
  ['munderover', ['_', '^']],
  ['munder', ['_']],
  ['mover', ['^']],
  ['mfrac', ['/']],
]);

function lineOf(node: ChildNode): string {
  if ('data' in node) return node.data.trim();
  if (!isElement(node) || node.name === 'annotation' || node.name === 'annotation-xml') return '';
  const parts = node.children.filter((child) => isElement(child));
  const signs = SIGNS.get(node.name);
  if (signs !== undefined) {
    return parts.map((part, at) => `${at === 0 ? '' : (signs[at - 1] ?? ' ')}${grouped(lineOf(part))}`).join('');
  }
  if (node.name === 'msqrt') return `√${grouped(parts.map(lineOf).join(''))}`;
  if (node.name === 'mo') return OPERATOR.test(textOf(node)) ? ` ${textOf(node).trim()} ` : textOf(node).trim();
  if (node.name === 'mtext') return ` ${textOf(node).trim()} `;
  if (node.name === 'mtd' || node.name === 'mtr') return `${parts.map(lineOf).join('')} `;
  return node.children.map(lineOf).join('');
}

/** Operators that are surrounded by spaces. */
const OPERATOR = /^\s*[=<>≤≥≠≈≡→⇒∈⊂]\s*$/;

const grouped = (line: string): string => (/^[\p{L}\p{N}.]*$/u.test(line.trim()) ? line.trim() : `(${line.trim()})`);

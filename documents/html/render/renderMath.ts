import type { ChildNode } from 'domhandler';
import { isElement, type PageElement } from '../tree/pageElement.js';

/**
 * Returns the formula of a MathML element in one line: its alttext, its TeX annotation, else its parts with `^`, `_` and
 * `/`, so that the square of c is not "c2".
 */
export function mathLine(math: PageElement): string {
  return (math.attribs['alttext']?.trim() || texOf(math) || lineOf(math)).replace(/\s+/g, ' ').trim();
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
  if (node.name === 'mroot') return rootLine(parts);
  if (node.name === 'mmultiscripts') return scriptsLine(parts);
  if (node.name === 'mo') return OPERATOR.test(textOf(node)) ? ` ${textOf(node).trim()} ` : textOf(node).trim();
  if (node.name === 'mtext') return ` ${textOf(node).trim()} `;
  if (node.name === 'mtd' || node.name === 'mtr') return `${parts.map(lineOf).join('')} `;
  return node.children.map(lineOf).join('');
}

/** The third root of x is `x^(1/3)`. */
function rootLine([base, index]: readonly PageElement[]): string {
  const [x, n] = [base, index].map((part) => (part === undefined ? '' : grouped(lineOf(part))));
  return `${x}^(1/${n})`;
}

/** A base with pairs of subscripts and superscripts after it, and after `mprescripts` those before it: `_6^14C_2`. */
function scriptsLine([base, ...scripts]: readonly PageElement[]): string {
  const border = scripts.findIndex(({ name }) => name === 'mprescripts');
  const after = border === -1 ? scripts : scripts.slice(0, border);
  const before = border === -1 ? [] : scripts.slice(border + 1);
  const pairs = (parts: readonly PageElement[]): string =>
    parts
      .map((part, at) => {
        const line = lineOf(part).trim();
        return line === '' ? '' : `${at % 2 === 0 ? '_' : '^'}${grouped(line)}`;
      })
      .join('');
  return `${pairs(before)}${base === undefined ? '' : grouped(lineOf(base))}${pairs(after)}`;
}

/** Operators that are surrounded by spaces. */
const OPERATOR = /^\s*[=<>≤≥≠≈≡→⇒∈⊂]\s*$/;

const grouped = (line: string): string => (/^[\p{L}\p{N}.]*$/u.test(line.trim()) ? line.trim() : `(${line.trim()})`);

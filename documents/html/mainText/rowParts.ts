import type { ChildNode } from 'domhandler';
import { isElement, type PageElement } from '../tree/pageElement.js';

/**
 * Whether the elements next to this one would get another meaning without it: it is a term, a definition, or a cell
 * next to a cell without pictures. A cell next to a picture can be the caption of the picture.
 */
export function isRowPart({ name, prev, next }: PageElement): boolean {
  if (name === 'dt' || name === 'dd') return true;
  if (name !== 'td' && name !== 'th') return false;
  return isCellOfText(prev, 'prev') || isCellOfText(next, 'next');
}

/** Whether the next element in a direction, from a node on, is a cell without pictures. */
function isCellOfText(start: ChildNode | null, direction: 'prev' | 'next'): boolean {
  let node = start;
  while (node !== null && !isElement(node)) node = node[direction];
  return node !== null && (node.name === 'td' || node.name === 'th') && node.images === 0;
}

import type { DocumentLimits } from '../types.js';
import { buildTree } from './buildTree.js';
import { measureText } from './measureText.js';
import { renderText } from './renderText.js';

/** Returns all text of a page, without the search for boilerplate: the body of a message is not a web page. */
export function wholeText(html: string, limits: DocumentLimits): string {
  const tree = buildTree(html, limits);
  measureText(tree, new Set());
  return renderText([tree], new Set(), limits.maxTextCharacters).text;
}

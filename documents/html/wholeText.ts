import type { DocumentLimits } from '../types.js';
import { buildTree } from './buildTree.js';
import { measureText } from './measureText.js';
import { renderText } from './renderText.js';

/** All of a page's text, nothing left out as boilerplate: the body of a message is no web page. */
export function wholeText(html: string, limits: DocumentLimits): string {
  const tree = buildTree(html, limits);
  measureText(tree, new Set());
  return renderText([tree], new Set(), limits.maxTextCharacters);
}

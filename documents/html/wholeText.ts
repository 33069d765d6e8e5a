import type { DocumentLimits } from '../types.js';
import { buildTree } from './tree/buildTree.js';
import { measureText } from './tree/measureText.js';
import { renderText } from './render/renderText.js';

/**
 * Returns all text of a page, without the search for boilerplate: the body of a message is not a web page.
 * @param isXhtml whether `<a/>` is an empty element, as in XHTML; in HTML it is a start tag
 */
export function wholeText(html: string, limits: DocumentLimits, isXhtml = false): string {
  const tree = buildTree(html, limits, isXhtml);
  measureText(tree, new Set());
  return renderText([tree], new Set(), limits.maxTextCharacters).text;
}

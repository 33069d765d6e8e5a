import type { DocumentLimits } from '../types.js';
import { buildTree } from './buildTree.js';
import { measureText } from './measureText.js';
import { renderText } from './renderText.js';

/** Elements whose content is not markup in HTML: as empty elements of XHTML they would include the rest of the page. */
const EMPTY_RAW = /<(title|script|style|textarea|iframe|xmp|noembed|noframes)\b([^<>]*)\/>/gi;

/**
 * Returns all text of a page, without the search for boilerplate: the body of a message is not a web page.
 * @param isXhtml whether `<a/>` is an empty element, as in XHTML; in HTML it is a start tag
 */
export function wholeText(html: string, limits: DocumentLimits, isXhtml = false): string {
  const tree = buildTree(isXhtml ? html.replace(EMPTY_RAW, '<$1$2></$1>') : html, limits, isXhtml);
  measureText(tree, new Set());
  return renderText([tree], new Set(), limits.maxTextCharacters).text;
}

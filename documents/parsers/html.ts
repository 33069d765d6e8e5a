import type { Document, ParentNode } from 'domhandler';
import { Fault } from '../../contract/failures.js';
import { decodeText } from '../decodeText.js';
import { applySkips } from '../html/applySkips.js';
import { findBoilerplate } from '../html/boilerplate.js';
import { buildTree } from '../html/buildTree.js';
import { withFallbacks } from '../html/fallbackText.js';
import { findMainText } from '../html/findMainText.js';
import { measureText } from '../html/measureText.js';
import type { PageElement } from '../html/pageElement.js';
import { readMetadata } from '../html/readMetadata.js';
import { renderText } from '../html/renderText.js';
import { revealContent } from '../html/revealContent.js';
import { trimLinks } from '../html/trimLinks.js';
import { withTitle } from '../html/withTitle.js';
import type { DocumentLimits, ParsedDocument, ParseInput, Parser } from '../types.js';

/** Reads the main text of a page. Surroundings are removed only while enough text remains. */
export const htmlParser = {
  parse(input: ParseInput, limits: DocumentLimits): ParsedDocument {
    const html = decodeText(input, { html: true });
    const tree = buildTree(html, limits);
    const metadata = readMetadata(tree, input.baseUrl);
    const mainTextOf = (page: Document): string => {
      applySkips(page, input.html);
      revealContent(page);
      const { nodes, leftOut } = selectText(page);
      return renderText(nodes, leftOut, limits.maxTextCharacters);
    };
    const text = withFallbacks(mainTextOf(tree), html, (other) => mainTextOf(buildTree(other, limits)));
    if (text === '') {
      throw new Fault(
        'no_text',
        'There is no readable text on the page: it is empty, or a script in the browser would have to write its content.',
      );
    }
    return { text, format: 'HTML', mimeType: 'text/html', metadata };
  },
} satisfies Parser;

interface Selection {
  readonly nodes: readonly ParentNode[];
  readonly leftOut: ReadonlySet<PageElement>;
}

/** Shorter texts accompany the content and are not the content itself. */
const LITTLE_TEXT = 50;

/** Chooses the strictest selection that keeps the page's content: an index must not shrink to its heading. */
function selectText(tree: Document): Selection {
  const nothing: ReadonlySet<PageElement> = new Set();
  const whole = measureText(tree, nothing).textLength;
  const boilerplate = findBoilerplate(tree, whole);
  const rest = measureText(tree, boilerplate).textLength;
  if (rest < LITTLE_TEXT && rest < 0.25 * whole) {
    measureText(tree, nothing);
    return { nodes: [tree], leftOut: nothing };
  }
  const main = findMainText(tree, boilerplate, rest);
  if (main[0] !== tree) return { nodes: withTitle(tree, main, boilerplate), leftOut: boilerplate };
  return { nodes: [tree], leftOut: new Set([...boilerplate, ...trimLinks(tree, boilerplate, rest)]) };
}

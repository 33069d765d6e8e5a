import type { Document } from 'domhandler';

import { Fault } from '../../contract/failures.js';
import { decodeText } from '../decodeText.js';
import { applySkips } from '../html/applySkips.js';
import { buildTree } from '../html/buildTree.js';
import { withFallbacks } from '../html/fallbackText.js';
import { findMainText } from '../html/mainText/findMainText.js';
import { readMetadata } from '../html/readMetadata.js';
import { type PageText, renderText } from '../html/renderText.js';
import { revealContent } from '../html/revealContent.js';
import type { DocumentLimits, ParsedDocument, ParseInput, Parser } from '../types.js';

/** Reads the main text of a page. Surroundings are removed only while enough text remains. */
export const htmlParser = {
  parse(input: ParseInput, limits: DocumentLimits): ParsedDocument {
    const html = decodeText(input, { html: true });
    const tree = buildTree(html, limits);
    const metadata = readMetadata(tree, input.baseUrl);
    const mainTextOf = (page: Document): PageText => {
      applySkips(page, input.html);
      revealContent(page);
      const { nodes, leftOut } = findMainText(page);
      return renderText(nodes, leftOut, limits.maxTextCharacters);
    };
    const { text, sections } = withFallbacks(mainTextOf(tree), html, (other) => mainTextOf(buildTree(other, limits)));
    if (text === '') {
      throw new Fault(
        'no_text',
        'There is no readable text on the page: it is empty, or a script in the browser would have to write its content.',
      );
    }
    const borders = sections.length > 0 ? { sections } : {};
    return { text, format: 'HTML', mimeType: 'text/html', metadata, ...borders };
  },
} satisfies Parser;

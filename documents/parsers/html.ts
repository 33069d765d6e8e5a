import { Fault } from '../../contract/failures.js';
import { applySkips } from '../html/applySkips.js';
import { findBoilerplate } from '../html/boilerplate.js';
import { buildTree } from '../html/buildTree.js';
import { findMainText } from '../html/findMainText.js';
import { measureText } from '../html/measureText.js';
import { readMetadata } from '../html/readMetadata.js';
import { renderText } from '../html/renderText.js';
import { trimLinks } from '../html/trimLinks.js';
import { withTitle } from '../html/withTitle.js';
import { decodeText } from '../decodeText.js';
import type { DocumentLimits, ParseInput, ParsedDocument, Parser } from '../types.js';

/** A web page: boilerplate out, main text as Markdown-like text, what the page says of itself as metadata. */
export const htmlParser: Parser = {
  format: 'HTML',
  parse(input: ParseInput, limits: DocumentLimits): ParsedDocument {
    const root = buildTree(decodeText(input, { html: true }), limits);
    const metadata = readMetadata(root, input.baseUrl);
    applySkips(root, input.html);
    const whole = measureText(root, new Set()).textLength;
    const leftOut = findBoilerplate(root, whole);
    const { textLength } = measureText(root, leftOut);
    const parts = withTitle(root, findMainText(root, leftOut, textLength), leftOut);
    if (parts.length === 1 && parts[0] === root) for (const element of trimLinks(root, leftOut, textLength)) leftOut.add(element);
    // A page that is all furniture, such as an index of links, still has its text.
    const text = renderText(parts, leftOut, limits.maxTextCharacters).trim() || renderText([root], new Set(), limits.maxTextCharacters).trim();
    if (text === '') throw new Fault('no_text', `There is no readable text on the page ${input.name}. If scripts fill it, set download_css_and_media.`);
    return { text, format: 'HTML', mimeType: 'text/html', metadata };
  },
};

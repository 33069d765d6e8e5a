import { decodeText } from './decodeText.js';
import { identifyFile } from './detection/identifyFile.js';
import { readLinks } from './html/readLinks.js';
import type { LinkOptions, PageLinks, ParseInput } from './types.js';

/**
 * Returns the links of a page, and its text if requested; no links if it is not HTML. Pure; may take long on hostile content, so it runs in the pool.
 */
export function readPageLinks(input: ParseInput, options: LinkOptions): PageLinks {
  const isHtml = identifyFile(input).format === 'HTML';
  const text = isHtml || options.withText ? decodeText(input, { html: isHtml }) : '';
  const urls = isHtml ? readLinks(text, input.baseUrl ?? input.name, options) : [];
  return { urls, text: options.withText ? text : '' };
}

import type { Document } from 'domhandler';

import { Fault } from '../../contract/failures.js';
import { decodeText } from '../decodeText.js';
import { applySkips } from '../html/applySkips.js';
import { buildTree } from '../html/tree/buildTree.js';
import { removeRepeatedLabels } from '../html/removeRepeatedLabels.js';
import { withDescription, withFallbacks } from '../html/fallbackText.js';
import { declaredKind } from '../html/mainText/declaredKind.js';
import { findMainText } from '../html/mainText/findMainText.js';
import { readMetadata } from '../html/readMetadata.js';
import { type RenderedText, renderText } from '../html/render/renderText.js';
import { revealContent } from '../html/revealContent.js';
import { listBlocks, withoutRepeated } from '../html/siteBlocks.js';
import type { DocumentLimits, ParsedDocument, ParseInput, Parser, RepeatedBlocks } from '../types.js';

interface SiteResult {
  readonly removed: RepeatedBlocks | null;
  readonly blocks: readonly string[];
}

/** Reads the main text of a page. Boilerplate is removed only while enough text remains. */
export const htmlParser = {
  parse(input: ParseInput, limits: DocumentLimits): ParsedDocument {
    const html = decodeText(input, { html: true });
    const tree = buildTree(html, limits);
    const metadata = readMetadata(tree, input.baseUrl);
    const title = typeof metadata['title'] === 'string' ? metadata['title'] : '';
    const declared = declaredKind(html);
    const { site } = input;
    /** The results of the comparison with the site's other pages, by text. */
    const siteResults = new Map<string, SiteResult>();
    const mainTextOf = (page: Document): RenderedText => {
      applySkips(page, input.html);
      revealContent(page);
      const found = findMainText(page, { declared, title, baseUrl: input.baseUrl });
      const { selection, removed } = site ? withoutRepeated(page, found, site) : { selection: found, removed: null };
      removeRepeatedLabels(selection.nodes, selection.leftOut);
      const mainText = renderText(selection.nodes, selection.leftOut, limits.maxTextCharacters);
      if (site)
        siteResults.set(mainText.text, { removed, blocks: site.listBlocks ? listBlocks(page, found, site.host) : [] });
      return mainText;
    };
    const main = withFallbacks(mainTextOf(tree), html, (other) => mainTextOf(buildTree(other, limits)));
    const { sections } = main;
    const render = (other: string): string =>
      renderText([buildTree(other, limits)], new Set(), limits.maxTextCharacters).text;
    const text = declared === 'product' ? withDescription(main.text, html, render) : main.text;
    if (text === '') {
      throw new Fault(
        'no_text',
        'There is no readable text on the page: it is empty, or a script in the browser would have to write its content.',
      );
    }
    const { removed = null, blocks = [] } = siteResults.get(main.text) ?? {};
    return {
      text,
      format: 'HTML',
      mimeType: 'text/html',
      metadata: { ...metadata, ...(removed && { repeated_blocks_removed: removed }) },
      ...(site?.listBlocks === true && { blocks }),
      ...(sections.length > 0 && { sections }),
    };
  },
} satisfies Parser;

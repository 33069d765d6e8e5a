import type { ContentRef, OpenedContent } from '../activities/deps.js';
import type { WebSource } from '../connectors/types.js';
import type { PageOptions } from '../contract/ingestOptions.js';

/** The contract's file_format of the types a page may have; anything else was served as HTML. */
const FORMATS: Readonly<Record<string, string>> = { 'text/plain': 'TXT', 'text/markdown': 'MD' };

/** What a page's reader leaves out, in its own words. */
export const skipsOf = (options: PageOptions): OpenedContent['html'] => ({
  tags: options.htmlTagsToSkip,
  classes: options.cssClassesToSkip,
  selectors: options.cssSelectorsToSkip,
});

/** The content of a web page; null when the copy we have is still the page. */
export async function openPage(
  web: Pick<WebSource, 'fetchPage'>,
  url: string,
  options: PageOptions,
  known: ContentRef['known'],
  signal: AbortSignal,
): Promise<OpenedContent | null> {
  const page = await web.fetchPage({
    url,
    downloadCssAndMedia: options.downloadCssAndMedia,
    usePremiumProxies: options.usePremiumProxies,
    known,
    signal,
  });
  if (!page) return null;
  const mimeType = page.contentType?.split(';')[0]?.trim().toLowerCase() ?? 'text/html';
  return {
    bytes: page.bytes,
    contentType: page.contentType,
    format: FORMATS[mimeType] ?? 'HTML',
    mimeType,
    url: page.finalUrl,
    html: skipsOf(options),
    validators: { etag: page.etag, lastModified: page.lastModified },
    facts: {
      fetched_with: page.fetchedWith,
      ...(page.finalUrl === url ? {} : { final_url: page.finalUrl }),
      ...(page.lastModified === null ? {} : { last_modified: page.lastModified }),
    },
  };
}

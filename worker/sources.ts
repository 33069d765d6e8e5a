import type { ContentRef, OpenedContent, Sources } from '../activities/deps.js';
import type { WebSource } from '../connectors/types.js';
import type { PageOptions } from '../contract/ingestOptions.js';

/** The contract's file_format of the types a page may have; anything else was served as HTML. */
const FORMATS: Readonly<Record<string, string>> = { 'text/plain': 'TXT', 'text/markdown': 'MD' };

/** What connectors offer, in the words of the activities. */
export function createSources(web: WebSource): Sources {
  return {
    discover: (sitemapUrl, signal, onProblem, usePremiumProxies) =>
      web.discover(sitemapUrl, signal, onProblem, usePremiumProxies),
    mayFetch: (url, signal) => web.mayFetch(url, signal),
    async open({ externalFileId, sourceOptions, known }: ContentRef, signal): Promise<OpenedContent | null> {
      const options = sourceOptions as PageOptions;
      const page = await web.fetchPage({
        url: externalFileId,
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
        html: {
          tags: options.htmlTagsToSkip,
          classes: options.cssClassesToSkip,
          selectors: options.cssSelectorsToSkip,
        },
        validators: { etag: page.etag, lastModified: page.lastModified },
        facts: {
          fetched_with: page.fetchedWith,
          ...(page.finalUrl === externalFileId ? {} : { final_url: page.finalUrl }),
          ...(page.lastModified === null ? {} : { last_modified: page.lastModified }),
        },
      };
    },
  };
}

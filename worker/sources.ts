import type { ContentRef, OpenedContent, Sources } from '../activities/deps.js';
import type { WebSource } from '../connectors/types.js';
import type { ScrapeSitemapRequest } from '../contract/scrapeSitemap.js';

/** What connectors offer, in the words of the activities. */
export function createSources(web: WebSource): Sources {
  return {
    discover: (sitemapUrl, signal) => web.discover(sitemapUrl, signal),
    async open({ externalFileId, runOptions }: ContentRef, signal): Promise<OpenedContent> {
      const { scrape } = runOptions as ScrapeSitemapRequest;
      const page = await web.fetchPage({
        url: externalFileId,
        downloadCssAndMedia: scrape.downloadCssAndMedia,
        signal,
      });
      return {
        bytes: page.bytes,
        contentType: page.contentType,
        format: 'HTML',
        mimeType: page.contentType?.split(';')[0]?.trim() ?? 'text/html',
        url: page.finalUrl,
        html: { tags: scrape.htmlTagsToSkip, classes: scrape.cssClassesToSkip, selectors: scrape.cssSelectorsToSkip },
        facts: {
          fetched_with: page.fetchedWith,
          ...(page.finalUrl === externalFileId ? {} : { final_url: page.finalUrl }),
          ...(page.lastModified === null ? {} : { last_modified: page.lastModified }),
        },
      };
    },
  };
}

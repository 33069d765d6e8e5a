import type { LivePage, LivePages, LinkReader, PageReader } from '../deps.js';

/** Links of one page that are answered at most. */
const MAX_LINKS = 10_000;

/** Reads single pages while their caller waits: fetched as pages of a scrape are, but without a browser. */
export function createLivePages(web: PageReader, documents: LinkReader): LivePages {
  return {
    async read(url, signal): Promise<LivePage> {
      const page = await web.fetchPage({
        url,
        downloadCssAndMedia: false,
        usePremiumProxies: false,
        known: null,
        signal,
      });
      // Nothing was known, so there is a page.
      if (page === null) return { urls: [], text: '' };
      const { bytes, contentType, finalUrl } = page;
      return documents.links(
        {
          bytes,
          contentType,
          name: finalUrl,
          baseUrl: finalUrl,
          html: { tags: [], classes: [], selectors: [] },
        },
        { max: MAX_LINKS, follow: null, withText: true },
        signal,
      );
    },
  };
}

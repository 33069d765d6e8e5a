import type { LivePage, LivePages, LinkReader, PageReader } from '../http/deps.js';

/** Maximum number of links in the response. */
const MAX_LINKS = 10_000;

/** Creates a reader of single pages for use during a request. It fetches as a scrape does, but without a browser. */
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
      // fetchPage() returns null only for a known version of the page, and none is passed here.
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

/**
 * Crawlee's CheerioCrawler: crawls the pages of the sitemap and extracts their text, without chunking or storing it.
 */
import { CheerioCrawler, Configuration, log } from '@crawlee/cheerio';
import { Sitemap } from '@crawlee/utils';

import { baseline } from './baseline.js';

/** The service's limit of concurrent requests per host. Crawlee begins with as many, instead of scaling up to them. */
const CONCURRENCY = 8;

log.setLevel(log.LEVELS.ERROR);

await baseline(async ({ sitemap }) => {
  let pages = 0;
  let characters = 0;
  const crawler = new CheerioCrawler(
    {
      minConcurrency: CONCURRENCY,
      async requestHandler({ $ }) {
        characters += $('main').text().length;
        pages += 1;
      },
    },
    new Configuration({ persistStorage: false }),
  );
  const { urls } = await Sitemap.load(sitemap);
  await crawler.run(urls);
  if (characters === 0) throw new Error('Crawlee found no text');
  return { pages, chunks: 0, steps: {} };
});

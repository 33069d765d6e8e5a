/** Crawlee's CheerioCrawler: crawls the sitemap's pages and extracts their text; nothing is cut or stored. */
import { CheerioCrawler, Configuration, log } from '@crawlee/cheerio';
import { Sitemap } from '@crawlee/utils';

import { peer } from './peer.js';

/** As many requests at once as the service allows itself at one host, from the start instead of growing to it. */
const CONCURRENCY = 8;

log.setLevel(log.LEVELS.ERROR);

await peer(async ({ sitemap }) => {
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

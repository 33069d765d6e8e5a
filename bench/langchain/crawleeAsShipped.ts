/** Crawlee as its documentation begins: a CheerioCrawler with nothing set, which pushes what it extracts into its own storage. */
import { CheerioCrawler, log } from '@crawlee/cheerio';
import { Sitemap } from '@crawlee/utils';

import { peer } from './peer.js';

log.setLevel(log.LEVELS.ERROR);

await peer(async ({ sitemap, outFile }) => {
  // By default a folder of the working directory: nothing else is said about its storage.
  process.env['CRAWLEE_STORAGE_DIR'] = `${outFile}.${process.pid}`;
  const crawler = new CheerioCrawler({
    async requestHandler({ request, $, pushData }) {
      await pushData({ url: request.url, text: $('main').text() });
    },
  });
  const { urls } = await Sitemap.load(sitemap);
  await crawler.run(urls);
  const { itemCount: pages = 0 } = (await (await crawler.getDataset()).getInfo()) ?? {};
  if (pages !== urls.length) throw new Error(`Crawlee kept ${pages} of ${urls.length} pages`);
  return { pages, chunks: 0, steps: {} };
});

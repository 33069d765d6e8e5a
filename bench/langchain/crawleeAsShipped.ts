/**
 * Crawlee as in its introduction: a CheerioCrawler with default settings, which pushes the extracted text into its own
 * storage.
 */
import { CheerioCrawler, log } from '@crawlee/cheerio';
import { Sitemap } from '@crawlee/utils';

import { baseline } from './baseline.js';

log.setLevel(log.LEVELS.ERROR);

await baseline(async ({ sitemap, outFile }) => {
  // By default the storage is a folder of the working directory. All other storage settings are defaults.
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

import Joi from 'joi';

import { Fault } from '../../contract/failures.js';
import { normaliseUrl } from '../../contract/urls.js';
import { HttpError, invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { address } from '../schemas/fields.js';
import { named } from '../schemas/reference.js';

/** Time limit in milliseconds for reading the sitemap. */
const TIMEOUT_MS = 60_000;

/** GET /process_sitemap: returns the page URLs of a sitemap, from which a caller selects urls_to_scrape. */
export const processSitemap = operation({
  method: 'get',
  path: '/process_sitemap',
  operationId: 'sitemap_process_sitemap_get',
  tag: 'Utilities',
  auth: 'user',
  summary: 'List the addresses in a sitemap',
  description: [
    'Reads a sitemap while you wait, with the sitemaps that it refers to, and returns the addresses of its pages.\n\nUse it to let a user choose pages for `urls_to_scrape` of `POST /scrape_sitemap`. Nothing is stored.\n\nAt most MAX_PAGES_PER_SCRAPE (50,000) addresses are returned, only those on the host of the sitemap. Reading ends after 60 s.',
  ],
  returns: 'Addresses of the pages in the sitemap, and in those sitemaps that it refers to and that could be read.',
  errors: { 400: 'The sitemap could not be read, or not within 60 s. `detail` says why.', 404: null },
  query: Joi.object({
    url: address().description(
      'Address of the sitemap or sitemap index, such as `https://example.com/sitemap.xml`: http or https, without credentials.',
    ),
  }),
  answer: named(
    'SitemapUrls',
    Joi.object({
      urls: Joi.array()
        .items(Joi.string())
        .required()
        .description('Addresses of the pages, each once, in the order of the sitemap.'),
    }).description('Addresses of the pages of a site, as its sitemap lists them.'),
  ),
  async handle({ query, signal, deps: { sitemaps, settings } }) {
    const url = normaliseUrl(query.url);
    if (url === null) {
      throw invalid(['query', 'url'], 'Give the http(s) address of a sitemap, without credentials', 'url_type');
    }
    const urls: string[] = [];
    const ended = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      for await (const entry of sitemaps.discover(url, ended)) {
        urls.push(entry.url);
        if (urls.length === settings.maxPagesPerScrape) break;
      }
    } catch (error) {
      if (error instanceof Fault) throw new HttpError(400, error.message);
      if (error instanceof DOMException)
        throw new HttpError(
          400,
          'The sitemap took too long to read. Scrape it instead: a scrape has no such time limit.',
        );
      throw error;
    }
    return { urls };
  },
});

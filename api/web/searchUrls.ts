import Joi from 'joi';

import { operation } from '../http/operation.js';
import { pageLinks } from '../schemas/links.js';
import { upstream } from '../upstream.js';

/** Maximum length of a query that web search services accept. */
const MAX_QUERY = 400;
const MAX_WORDS = 50;

const fewWords = (text: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport =>
  text.split(/\s+/).length > MAX_WORDS
    ? helpers.message({ custom: `{{#label}} must have no more than ${MAX_WORDS} words` })
    : text;

/** GET /search_urls: returns the URLs that a web search finds. */
export const searchUrls = operation({
  method: 'get',
  path: '/search_urls',
  operationId: 'search_urls_search_urls_get',
  tag: 'Utilities',
  auth: 'user',
  summary: 'Search the web for addresses',
  description: [
    'Searches the web with the service that the operator has configured (Brave Search or SearXNG), and returns the addresses that it finds, at most 100.\n\nUse it to find pages for `POST /web_scrape`. It does not search your files: that is `POST /embeddings`. Nothing is stored.',
  ],
  returns: 'Addresses that the search service found, in the order of its ranking. `html_content` is always empty.',
  errors: {
    400: 'No search service is configured: the operator sets BRAVE_SEARCH_API_KEY or SEARXNG_BASE_URL.',
    404: null,
    502: 'The search service rejected the request. `detail` says why.',
    503: 'The search service, or a store, is busy or does not answer. Retry after `Retry-After` seconds, if given.',
  },
  query: Joi.object({
    query: Joi.string()
      .trim()
      .min(1)
      .max(MAX_QUERY)
      .custom(fewWords)
      .required()
      .description('Words to search the web for: at most 400 characters and 50 words.'),
  }),
  answer: pageLinks,
  handle: ({ query, deps: { lookups } }) =>
    upstream(async () => {
      const urls = await lookups.webSearch().search(query.query);
      // A search fetches no page, so there is no HTML.
      return { urls, html_content: '', error_message: null };
    }),
});

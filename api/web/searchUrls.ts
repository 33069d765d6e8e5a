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
  summary: 'Searches the web, and lists the addresses that were found.',
  description: [],
  query: Joi.object({ query: Joi.string().trim().min(1).max(MAX_QUERY).custom(fewWords).required() }),
  answer: pageLinks,
  handle: ({ query, deps: { lookups } }) =>
    upstream(async () => {
      const urls = await lookups.webSearch().search(query.query);
      // The result has no page, so no source either.
      return { urls, html_content: '', error_message: null };
    }),
});

import Joi from 'joi';

import { Fault } from '../../contract/failures.js';
import { pageUrl } from '../../contract/urls.js';
import { invalid } from '../http/errors.js';
import { type Call, operation } from '../http/operation.js';
import { address } from '../schemas/fields.js';
import { pageLinks } from '../schemas/links.js';
import { named } from '../schemas/reference.js';

/** Time limit in milliseconds for reading the page. */
const TIMEOUT_MS = 60_000;

/** Reads a page's links and source. For an unreadable page, returns the reason as error_message. */
async function fetchUrls(given: string, where: 'query' | 'body', call: Pick<Call<'user', unknown>, 'signal' | 'deps'>) {
  const url = pageUrl(given);
  if (url === null)
    throw invalid([where, 'url'], 'Give the http(s) address of a page, without credentials', 'url_type');
  const failed = (error_message: string) => ({ urls: [], html_content: '', error_message });
  try {
    const ended = AbortSignal.any([call.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const { urls, text } = await call.deps.livePages.read(url, ended);
    return { urls, html_content: text, error_message: null };
  } catch (error) {
    if (error instanceof Fault) return failed(error.message);
    if (error instanceof DOMException) return failed('The page took too long to read. Scrape it instead.');
    throw error;
  }
}

/** GET /fetch_urls: returns the links of one page, and its HTML. */
export const fetchUrlsOfPage = operation({
  method: 'get',
  path: '/fetch_urls',
  operationId: 'fetch_urls_fetch_urls_get',
  tag: 'Utilities',
  auth: 'user',
  summary: 'List the links of a page',
  description: [
    'Fetches one page while you wait, and returns its links and its source. Use it to find start addresses for `POST /web_scrape`.\n\nNothing is stored, no script runs, and at most 10,000 links are returned. A page that cannot be read, or not within 60 s, returns 200 with `error_message`.',
  ],
  returns: 'Links and source of the page; `error_message` if it could not be read.',
  replacedBy: 'POST /fetch_webpage',
  errors: { 404: null },
  query: Joi.object({
    url: address().description('Address of the page, without credentials; without a scheme, https is assumed.'),
  }),
  answer: pageLinks,
  handle: (call) => fetchUrls(call.query.url, 'query', call),
});

/** POST /fetch_webpage: returns the links of one page, and its HTML, for a URL in the body. */
export const fetchWebpage = operation({
  method: 'post',
  path: '/fetch_webpage',
  operationId: 'fetch_urls_v2_fetch_webpage_post',
  tag: 'Utilities',
  auth: 'user',
  summary: 'List the links of a page (POST)',
  description: [
    'Fetches one page while you wait, and returns its links and its source.\n\nUse it for addresses that are too long for a query or must not be in access logs. Nothing is stored, no script runs, and at most 10,000 links are returned. A page that cannot be read, or not within 60 s, returns 200 with `error_message`.',
  ],
  returns: 'Links and source of the page; `error_message` if it could not be read.',
  errors: { 404: null },
  body: named(
    'FetchURLsRequest',
    Joi.object({
      url: address().description('Address of the page, without credentials; without a scheme, https is assumed.'),
    }).description('Address of the page whose links and source are returned.'),
  ),
  answer: pageLinks,
  handle: (call) => fetchUrls(call.body.url, 'body', call),
});

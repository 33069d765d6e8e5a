import { randomUUID } from 'node:crypto';
import Joi from 'joi';
import pLimit from 'p-limit';

import { WEB_PAGE_SOURCE } from '../../contract/runs/scrapeSitemap.js';
import { pageUrl } from '../../contract/urls.js';
import { crawlId, type WebScrapeRequest } from '../../contract/runs/webScrape.js';
import { invalid } from '../http/errors.js';
import { operation, type UserCaller } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { boundFields } from '../schemas/bounds.js';
import { address, integer, orNull } from '../schemas/fields.js';
import { ingestFields, toIngestOptions } from '../schemas/ingest.js';
import { pageFields, paths, toPageOptions } from '../schemas/pages.js';
import { tags } from '../schemas/tags.js';
import type { ApiDeps } from '../http/deps.js';
import { dryCrawl } from '../dryRuns/crawl.js';
import { withDeadline } from '../dryRuns/deadline.js';
import { estimate } from '../schemas/estimates.js';
import { type AcceptedParent, acceptParent, acceptSingleParent, type NewParent } from './acceptParent.js';
import type { Infer } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';

/** Maximum number of scrapes per request. Either all are accepted or none. */
const MAX_SCRAPES = 100;
/** Maximum number of concurrent dry runs of one request. */
const CRAWLS_AT_ONCE = 4;

const requestBody = Joi.array()
  .items(
    named(
      'WebscrapeRequest',
      Joi.object({
        url: address().description(
          'Address of the start page, without credentials; without a scheme, https is assumed.',
        ),
        tags: orNull(tags(), {}).description('Tags of each page. Searches can filter by them. Null: no tags.'),
        recursion_depth: orNull(integer().min(0), 3).description(
          'Maximum number of links between the start page and a page. Default, also for null: 3. With 0, only the start page is scraped.',
        ),
        max_pages_to_scrape: orNull(integer().min(1), 100).description(
          'Maximum number of pages, nearest to the start first; failed ones count. Default, also for null: 100. Maximum: the server setting `MAX_PAGES_PER_SCRAPE` (50,000).',
        ),
        ...ingestFields(),
        ...pageFields(),
        ...boundFields(),
        url_paths_to_include: paths().description(
          'Follow only links whose path begins with one of these prefixes; a prefix that begins with http is compared with the whole address. The start page is always included. At most 10. Null or empty: all links.',
        ),
      }).description('A start page, how far to follow its links, and how the pages become files.'),
    ),
  )
  .max(MAX_SCRAPES)
  .required();
type Body = Infer<typeof requestBody>[number];

/** Converts one element to the request of its run. @throws HttpError 422 if the URL is not an http(s) URL */
function toRequest(body: Body, index: number): WebScrapeRequest {
  const url = pageUrl(body.url);
  if (url === null)
    throw invalid(['body', index, 'url'], 'Give the http(s) address of a page, without credentials', 'url_type');
  return {
    url,
    tags: body.tags,
    ingest: toIngestOptions(body),
    scrape: {
      ...toPageOptions(body),
      recursionDepth: body.recursion_depth,
      maxPagesToScrape: body.max_pages_to_scrape,
      urlPathsToInclude: body.url_paths_to_include,
      enableAutoSync: body.enable_auto_sync,
    },
  };
}

/** Estimates all crawls within the time limit of one dry run. @throws HttpError 422 if an element lacks `dry_run` */
async function dryScrapes(caller: UserCaller, body: readonly Body[], deps: ApiDeps) {
  const index = body.findIndex((element) => !element.dry_run);
  if (index >= 0) throw invalid(['body', index, 'dry_run'], 'Set dry_run for all elements or for none', 'value_error');
  const requests = body.map(toRequest);
  const pagesOfEach = Math.max(1, Math.floor(deps.settings.dryRun.samplePages / requests.length));
  const limit = pLimit(CRAWLS_AT_ONCE);
  return withDeadline(caller, deps, (deadline) =>
    Promise.all(requests.map((request) => limit(() => dryCrawl(caller, request, deadline, pagesOfEach, deps)))),
  );
}

/** Accepts all crawls or none. */
async function acceptAll(caller: UserCaller, parents: readonly NewParent[], deps: ApiDeps): Promise<AcceptedParent[]> {
  const [firstParent, ...others] = parents;
  if (firstParent && others.length === 0) return [await acceptSingleParent(caller, firstParent, deps)];
  return deps.unit.transaction(async (session) => {
    const accepted: AcceptedParent[] = [];
    // Sequential: a session executes one command at a time.
    for (const parent of parents) accepted.push(await acceptParent(caller, parent, deps.store, session));
    return accepted;
  });
}

/**
 * POST /web_scrape: accepts a crawl for each element, returns their parent files, and leaves the work to the workflows.
 */
export const webScrape = operation({
  method: 'post',
  path: '/web_scrape',
  operationId: 'web_scrape_web_scrape_post',
  tag: 'Utilities',
  auth: 'user',
  summary: 'Scrape sites by following links',
  description: [
    'Starts a crawl for each of up to 100 elements of the request; either all are accepted or none. A crawl follows links on the host of its start page, level by level, and each page becomes a file. The response has the parent file of each crawl, in the order of the request; it stays SYNCING until all pages have ended, and is SYNC_ERROR if the start page failed.\n\nFollow it by its `sync_status`, by `GET /sync_runs`, or by the events FILES_CREATED, WEBSCRAPE_URLS_READY, WEBPAGE_READY and ALL_FILES_PROCESSED.\n\nrobots.txt and nofollow are obeyed, and at most 1,000 links of a page are followed. Use `POST /scrape_sitemap` for a site with a sitemap. `dry_run` of all elements returns estimates, and nothing is stored.',
  ],
  returns: 'The parent files of the crawls; for a dry run, the estimates.',
  errors: {
    404: null,
    429: 'The caller sent more requests than allowed, or has two dry runs in progress. Repeat the request after the seconds in `Retry-After`.',
  },
  createsWork: true,
  body: requestBody,
  answer: Joi.array().items(fileRecord),
  dryAnswer: Joi.array().items(estimate),
  async handle({ caller, body, deps }) {
    const { store, unit, workflowLink } = deps;
    if (body.some((element) => element.dry_run)) return dryScrapes(caller, body, deps);
    const scrapes = await Promise.all(
      body.map(async (element, index) => ({
        request: toRequest(element, index),
        maxTokens: element.max_tokens,
        runId: await store.runs.nextId(),
        requestId: randomUUID(),
      })),
    );
    const newParents = scrapes.map(({ request, runId, requestId, maxTokens }): NewParent => {
      const { maxPagesToScrape, recursionDepth, enableAutoSync } = request.scrape;
      return {
        runId,
        requestId,
        work: { kind: 'webScrape', request },
        source: WEB_PAGE_SOURCE,
        externalFileId: crawlId(request.url),
        enableAutoSync,
        maxTokens,
        fileMetadata: { max_pages_to_scrape: maxPagesToScrape, recursion_depth: recursionDepth },
      };
    });
    const parents = await acceptAll(caller, newParents, deps);
    for (const [index, { runId }] of scrapes.entries()) unit.start(runId, parents[index]?.first);
    return parents.map(({ parent }) => presentFile(parent, { workflowLink }));
  },
});

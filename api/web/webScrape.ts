import { randomUUID } from 'node:crypto';
import Joi from 'joi';
import pLimit from 'p-limit';

import { WEB_PAGE_SOURCE } from '../../contract/scrapeSitemap.js';
import { pageUrl } from '../../contract/urls.js';
import { crawlId, type WebScrapeRequest } from '../../contract/webScrape.js';
import { invalid } from '../http/errors.js';
import { operation, type UserCaller } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { boundFields } from '../schemas/bounds.js';
import { address, integer, orNull } from '../schemas/fields.js';
import { ingestFields, toIngestOptions } from '../schemas/ingest.js';
import { pageFields, paths, toPageOptions } from '../schemas/pages.js';
import { tags } from '../schemas/tags.js';
import type { ApiDeps } from '../deps.js';
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
        url: address(),
        tags: orNull(tags(), {}),
        recursion_depth: orNull(integer().min(0), 3),
        max_pages_to_scrape: orNull(integer().min(1), 100),
        ...ingestFields(),
        ...pageFields(),
        ...boundFields(),
        url_paths_to_include: paths(),
      }),
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

/** Estimates all crawls within the time limit of one. @throws HttpError 422 if only some of them are dry runs */
async function dryScrapes(caller: UserCaller, body: readonly Body[], deps: ApiDeps) {
  const index = body.findIndex((element) => !element.dry_run);
  if (index >= 0)
    throw invalid(['body', index, 'dry_run'], 'Ask for a dry run of all of them, or of none', 'value_error');
  const requests = body.map(toRequest);
  const pagesOfEach = Math.max(1, Math.floor(deps.settings.dryRun.samplePages / requests.length));
  const limit = pLimit(CRAWLS_AT_ONCE);
  return withDeadline(caller, deps, (deadline) =>
    Promise.all(requests.map((request) => limit(() => dryCrawl(caller, request, deadline, pagesOfEach, deps)))),
  );
}

/** Accepts all crawls or none. */
async function acceptAll(caller: UserCaller, asked: readonly NewParent[], deps: ApiDeps): Promise<AcceptedParent[]> {
  const [first, ...others] = asked;
  if (first && others.length === 0) return [await acceptSingleParent(caller, first, deps)];
  return deps.unit.transaction(async (session) => {
    const accepted: AcceptedParent[] = [];
    // Sequential: a session executes one command at a time.
    for (const parent of asked) accepted.push(await acceptParent(caller, parent, deps.store, session));
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
  summary: 'Scrapes pages by following their links, one crawl for each element.',
  description: [],
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
    const asked = scrapes.map(({ request, runId, requestId, maxTokens }): NewParent => {
      const { maxPagesToScrape, recursionDepth, enableAutoSync } = request.scrape;
      return {
        runId,
        requestId,
        work: { kind: 'webScrape', request },
        source: WEB_PAGE_SOURCE,
        externalFileId: crawlId(request.url),
        enableAutoSync,
        maxTokens,
        facts: { max_pages_to_scrape: maxPagesToScrape, recursion_depth: recursionDepth },
      };
    });
    const parents = await acceptAll(caller, asked, deps);
    for (const [index, { runId }] of scrapes.entries()) unit.start(runId, parents[index]?.first);
    return parents.map(({ parent }) => presentFile(parent, { workflowLink }));
  },
});

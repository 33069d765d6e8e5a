import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import type { TagValue } from '../../contract/records.js';
import { WEB_PAGE_SOURCE } from '../../contract/scrapeSitemap.js';
import { pageUrl } from '../../contract/urls.js';
import { crawlId, type WebScrapeRequest } from '../../contract/webScrape.js';
import type { FileDoc } from '../../store/files/model.js';
import { invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { address, integer, orNull } from '../schemas/fields.js';
import { type IngestBody, ingestFields, toIngestOptions } from '../schemas/ingest.js';
import { type PageBody, pageFields, paths, toPageOptions } from '../schemas/pages.js';
import { tags } from '../schemas/tags.js';
import { acceptParent, type NewParent } from './acceptParent.js';

/** Scrapes that one request accepts, all or none. */
const MAX_SCRAPES = 100;

interface Body extends IngestBody, PageBody {
  url: string;
  tags: Record<string, TagValue>;
  max_pages_to_scrape: number;
  recursion_depth: number;
  url_paths_to_include: string[];
}

/** One element as its run keeps it. @throws HttpError 422 for a url that is no http(s) address */
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

/** POST /web_scrape: accepts a crawl for each element, answers their parent files, and leaves the work to the workflows. */
export const webScrape = operation<'user', Body[]>({
  method: 'post',
  path: '/web_scrape',
  auth: 'user',
  summary: 'Scrapes pages by following their links, one crawl for each element.',
  createsWork: true,
  body: Joi.array()
    .items(
      Joi.object({
        url: address(),
        tags: orNull(tags(), {}),
        recursion_depth: orNull(integer().min(0), 3),
        max_pages_to_scrape: orNull(integer().min(1), 100),
        ...ingestFields(),
        ...pageFields(),
        url_paths_to_include: paths(),
      }),
    )
    .max(MAX_SCRAPES)
    .required(),
  answer: Joi.array().items(fileRecord),
  async handle({ caller, body, deps: { store, dispatcher } }) {
    const scrapes = await Promise.all(
      body.map(async (element, index) => ({
        request: toRequest(element, index),
        runId: await store.runs.nextId(),
        requestId: randomUUID(),
      })),
    );
    const parents = await store.transaction(async (session) => {
      const accepted: FileDoc[] = [];
      // One after the other: a session takes one command at a time.
      for (const { request, runId, requestId } of scrapes) {
        const { maxPagesToScrape, recursionDepth, enableAutoSync } = request.scrape;
        const parent: NewParent = {
          runId,
          requestId,
          kind: 'webScrape',
          source: WEB_PAGE_SOURCE,
          externalFileId: crawlId(request.url),
          request,
          enableAutoSync,
          facts: { max_pages_to_scrape: maxPagesToScrape, recursion_depth: recursionDepth },
        };
        accepted.push(await acceptParent(caller, parent, store, session));
      }
      return accepted;
    });
    // Not awaited: the rows are the promise. Temporal may be away; the sweeper starts what is left.
    for (const { runId } of scrapes) void dispatcher.start(runId);
    return parents.map((parent) => presentFile(parent));
  },
});

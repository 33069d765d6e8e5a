import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { type ScrapeSitemapRequest, WEB_PAGE_SOURCE } from '../../contract/runs/scrapeSitemap.js';
import { normaliseUrl } from '../../contract/urls.js';
import { invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { boundFields } from '../schemas/bounds.js';
import { address, integer, orNull, strings } from '../schemas/fields.js';
import { ingestFields, toIngestOptions } from '../schemas/ingest.js';
import { pageFields, paths, toPageOptions } from '../schemas/pages.js';
import { tags } from '../schemas/tags.js';
import { withDeadline } from '../dryRuns/deadline.js';
import { drySitemap } from '../dryRuns/sitemap.js';
import { estimate } from '../schemas/estimates.js';
import { acceptSingleParent } from './acceptParent.js';
import type { Infer } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';

/** Maximum number of URLs per request. */
const MAX_URLS = 50_000;
/** Maximum size of all URLs: they are stored with the record, and MongoDB limits documents to 16 MB. */
const MAX_URLS_CHARACTERS = 6_000_000;

const requestBody = named(
  'SitemapScrapeRequest',
  Joi.object({
    url: address().description(
      'Address of the sitemap or sitemap index, such as `https://example.com/sitemap.xml`: http or https, without credentials. At most 8,192 characters.',
    ),
    tags: orNull(tags(), {}).description('Tags of each page. Searches can filter by them. Null: no tags.'),
    max_pages_to_scrape: orNull(integer().min(1)).description(
      'Maximum number of pages, in the order of the sitemap. Default, also for null, and maximum: the server setting `MAX_PAGES_PER_SCRAPE` (50,000).',
    ),
    ...ingestFields(),
    ...pageFields(),
    ...boundFields(),
    url_paths_to_include: paths().description(
      'Only pages whose path begins with one of these prefixes, such as `/docs`; a prefix that begins with http is compared with the whole address. At most 10. Null or empty: all pages.',
    ),
    url_paths_to_exclude: paths().description(
      'Excludes pages whose path begins with one of these prefixes, such as `/blog`; a prefix that begins with http is compared with the whole address. At most 10. Exclusions take precedence. Null or empty: none.',
    ),
    urls_to_scrape: orNull(strings().max(MAX_URLS), []).description(
      'Only these pages of the sitemap, such as a choice from `GET /process_sitemap`. Addresses that it does not name are ignored. At most 50,000 with 6,000,000 characters in all. Null or empty: all pages.',
    ),
  }).description('A sitemap, which of its pages to scrape, and how they become files.'),
);
type Body = Infer<typeof requestBody>;

/** Converts the request to that of the run. @throws HttpError 422 if the URL is not an http(s) URL */
function toRequest(body: Body): ScrapeSitemapRequest {
  const url = normaliseUrl(body.url);
  if (url === null)
    throw invalid(['body', 'url'], 'Give the http(s) address of a sitemap, without credentials', 'url_type');
  // Keep unparsable entries: dropping them could empty the list, which would mean "all pages".
  const urlsToScrape = body.urls_to_scrape.map((text) => normaliseUrl(text, url) ?? text);
  if (urlsToScrape.reduce((sum, { length }) => sum + length, 0) > MAX_URLS_CHARACTERS)
    throw invalid(['body', 'urls_to_scrape'], `More than ${MAX_URLS_CHARACTERS} characters in all`, 'too_long');
  return {
    url,
    tags: body.tags,
    ingest: toIngestOptions(body),
    scrape: {
      maxPagesToScrape: body.max_pages_to_scrape ?? null,
      urlPathsToInclude: body.url_paths_to_include,
      urlPathsToExclude: body.url_paths_to_exclude,
      urlsToScrape,
      ...toPageOptions(body),
      enableAutoSync: body.enable_auto_sync,
    },
  };
}

/** POST /scrape_sitemap: accepts a scrape, returns its parent file, and leaves the work to the workflow. */
export const scrapeSitemap = operation({
  method: 'post',
  path: '/scrape_sitemap',
  operationId: 'scrape_sitemap_scrape_sitemap_post',
  tag: 'Utilities',
  auth: 'user',
  summary: 'Scrape the pages of a sitemap',
  description: [
    'Scrapes the pages that a sitemap names; each becomes a file. The response is their parent, the file of the scrape, which stays SYNCING until all pages have ended. It is READY then even if pages failed, and SYNC_ERROR if the sitemap could not be read.\n\nFollow it by its `sync_status`, by `GET /sync_runs`, or by the events FILES_CREATED, WEBSCRAPE_URLS_READY, WEBPAGE_READY and ALL_FILES_PROCESSED. A second scrape of the same sitemap runs after the first.\n\nOnly pages on the host of the sitemap are scraped, and robots.txt is obeyed. With `dry_run: true` the response is an estimate, and nothing is stored.',
  ],
  returns: 'The parent file of the scrape; for a dry run, the estimate.',
  errors: {
    409: 'A file of a scraped page with this address exists: delete it first. Or a request with the same Idempotency-Key is in progress.',
    429: 'The caller sent more requests than allowed, or has two dry runs in progress. Repeat the request after the seconds in `Retry-After`.',
  },
  createsWork: true,
  body: requestBody,
  answer: fileRecord,
  dryAnswer: estimate,
  async handle({ caller, body, deps }) {
    const { store, unit, workflowLink } = deps;
    const request = toRequest(body);
    if (body.dry_run) return withDeadline(caller, deps, (deadline) => drySitemap(caller, request, deadline, deps));
    const [runId, requestId] = [await store.runs.nextId(), randomUUID()];
    const { parent, first } = await acceptSingleParent(
      caller,
      {
        runId,
        requestId,
        work: { kind: 'scrapeSitemap', request },
        source: WEB_PAGE_SOURCE,
        externalFileId: request.url,
        enableAutoSync: request.scrape.enableAutoSync,
        maxTokens: body.max_tokens,
        // Front ends show the parent as a folder that contains the pages.
        fileMetadata: { is_folder: true },
      },
      deps,
    );
    unit.start(runId, first);
    return presentFile(parent, { workflowLink });
  },
});

import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { workflowIds } from '../../contract/orchestration.js';
import type { TagValue } from '../../contract/records.js';
import { type ScrapeSitemapRequest, WEB_PAGE_SOURCE } from '../../contract/scrapeSitemap.js';
import { normaliseUrl } from '../../contract/urls.js';
import { invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { integer, orNull, strings } from '../schemas/fields.js';
import { type IngestBody, ingestFields, toIngestOptions } from '../schemas/ingest.js';
import { skipNames, skipSelectors } from '../schemas/skipLists.js';
import { tags } from '../schemas/tags.js';

/** Include and exclude paths of one request at most. */
const MAX_PATHS = 10;
/** Longest address of a sitemap. */
const MAX_URL = 8_192;
/** Addresses that one request may name. */
const MAX_URLS = 50_000;
/** All of them, whole: they are kept with the record, and MongoDB takes 16 MB. */
const MAX_URLS_CHARACTERS = 6_000_000;

interface Body extends IngestBody {
  url: string;
  tags: Record<string, TagValue>;
  max_pages_to_scrape?: number;
  enable_auto_sync: boolean;
  html_tags_to_skip: string[];
  css_classes_to_skip: string[];
  css_selectors_to_skip: string[];
  url_paths_to_include: string[];
  url_paths_to_exclude: string[];
  urls_to_scrape: string[];
  download_css_and_media: boolean;
  use_premium_proxies: boolean;
}

/** The request as the run keeps it. @throws HttpError 422 for a url that is no http(s) address */
function toRequest(body: Body): ScrapeSitemapRequest {
  const url = normaliseUrl(body.url);
  if (url === null)
    throw invalid(['body', 'url'], 'Give the http(s) address of a sitemap, without credentials', 'url_type');
  // What can't be an address can't be in the sitemap either, but must not turn a subset into everything.
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
      htmlTagsToSkip: body.html_tags_to_skip,
      cssClassesToSkip: body.css_classes_to_skip,
      cssSelectorsToSkip: body.css_selectors_to_skip,
      downloadCssAndMedia: body.download_css_and_media,
      usePremiumProxies: body.use_premium_proxies,
      enableAutoSync: body.enable_auto_sync,
    },
  };
}

/** POST /scrape_sitemap: accepts the scrape, answers its parent file, and leaves the work to the workflow. */
export const scrapeSitemap = operation<'user', Body>({
  method: 'post',
  path: '/scrape_sitemap',
  auth: 'user',
  summary: "Scrapes the pages listed in a site's sitemap.",
  createsWork: true,
  body: Joi.object({
    url: Joi.string().max(MAX_URL).required(),
    tags: orNull(tags(), {}),
    max_pages_to_scrape: orNull(integer().min(1)),
    ...ingestFields(),
    enable_auto_sync: orNull(Joi.boolean(), false),
    html_tags_to_skip: orNull(skipNames(), []),
    css_classes_to_skip: orNull(skipNames(), []),
    css_selectors_to_skip: orNull(skipSelectors(), []),
    url_paths_to_include: orNull(strings(MAX_URL).max(MAX_PATHS), []),
    url_paths_to_exclude: orNull(strings(MAX_URL).max(MAX_PATHS), []),
    urls_to_scrape: orNull(strings().max(MAX_URLS), []),
    download_css_and_media: orNull(Joi.boolean(), false),
    generate_chunks_only: Joi.boolean().default(false),
    store_file_only: Joi.boolean().default(false),
    use_premium_proxies: Joi.boolean().default(false),
  }),
  answer: fileRecord,
  async handle({ caller, body, deps: { store, dispatcher } }) {
    const request = toRequest(body);
    const [runId, requestId] = [await store.runs.nextId(), randomUUID()];
    const parent = await store.transaction(async (session) => {
      const file = await store.files.accept(
        caller,
        {
          source: WEB_PAGE_SOURCE,
          externalFileId: request.url,
          externalUrl: request.url,
          name: request.url,
          parentId: null,
          isContainer: true,
          tags: request.tags,
          options: request.ingest,
          sourceOptions: request.scrape,
          enableAutoSync: request.scrape.enableAutoSync,
          requestId,
          runId,
          workflowOf: workflowIds.scrape,
        },
        session,
      );
      await store.runs.accept(
        runId,
        {
          kind: 'scrapeSitemap',
          workflowId: workflowIds.scrape(file._id),
          owner: caller,
          fileId: file._id,
          requestId,
          options: request,
        },
        session,
      );
      return file;
    });
    // Not awaited: the row is the promise. Temporal may be away; the sweeper starts what is left.
    void dispatcher.start(runId);
    return presentFile(parent);
  },
});

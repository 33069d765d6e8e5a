import Joi from 'joi';

import type { FileRecord } from '../../../contract/files/records.js';
import { integer } from '../../schemas/fields.js';
import { tags } from '../../schemas/tags.js';
import { webScrape } from '../../web/webScrape.js';
import { queued, queuedOf } from '../queued.js';
import { tool } from '../tool.js';

/** Ingests a web page, and with depth the pages that it links to. */
export const addUrl = tool({
  name: 'add_url',
  title: 'Add a web page',
  description:
    'Ingests the page at a URL, and with depth pages that it links to on the same host. It returns before the pages are processed; poll sync_status for the progress. Later, resync with the returned file id fetches it again.',
  scope: 'write',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: Joi.object({
    url: Joi.string().max(8_192).required().description('http(s) address without credentials.'),
    depth: integer().min(0).max(10).default(0).description('Maximum link depth of the crawl; 0: only this page.'),
    max_pages: integer().min(1).max(1_000).default(50).description('Maximum number of pages.'),
    tags: tags().description('Tags of the pages, by which search can filter.'),
  }),
  output: queued,
  async run({ url, depth, max_pages: maxPages, tags: pageTags }, { perform }) {
    const [parent] = (await perform(webScrape, {
      body: [
        {
          url,
          recursion_depth: depth,
          max_pages_to_scrape: maxPages,
          generate_sparse_vectors: true,
          ...(pageTags ? { tags: pageTags } : {}),
        },
      ],
    })) as FileRecord[];
    return queuedOf(parent);
  },
});

import Joi from 'joi';

import type { FileFilters } from '../../contract/files/fileFilters.js';
import { WEB_PAGE_SOURCE } from '../../contract/runs/scrapeSitemap.js';
import { ListAnswer, operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord, listOf } from '../schemas/answers.js';
import { orNull } from '../schemas/fields.js';
import { idList, pagination, toPage } from '../schemas/listing.js';
import { named } from '../schemas/reference.js';
import { orderDirection } from '../schemas/enums.js';

/** POST /user_webpages: lists the caller's scraped pages, without the parents of scrapes. */
export const userWebpages = operation({
  method: 'post',
  path: '/user_webpages',
  operationId: 'user_web_pages_user_webpages_post',
  tag: 'Utilities',
  auth: 'reader',
  summary: 'List scraped pages',
  description: [
    'Lists the files of the pages that scrapes of the caller have found, newest change first unless ordered otherwise. The parent files of scrapes, and entries of feeds, are not included. `POST /user_files_v2` with `source: "WEB_SCRAPE"` offers more filters. A page of the list has at most 10,000 files.',
  ],
  returns: 'One page of the list, with file records of scraped pages, and the number of all that match.',
  errors: { 404: null },
  body: named(
    'UserWebPagesRequest',
    Joi.object({
      filters: named(
        'UserWebPagesFilters',
        Joi.object({
          ids: orNull(idList()).description(
            'Only pages with these file ids, at most 10,000. Absent, null or empty: all.',
          ),
        }).description(
          'Which scraped pages to list, by the `id` of their files. Without `ids`, all pages of the caller are listed.',
        ),
      )
        .default({})
        .description('Only pages with these file ids. `{}` selects all pages of the caller.'),
      order_by: named(
        'UserWebPageOrderByTypes',
        Joi.string()
          .valid('created_at', 'updated_at', 'id')
          .description(
            '`created_at`: when a scrape first found the page. `updated_at`: when its file last changed. `id`: number of its file. Equal times are sorted by id.',
          ),
      )
        .default('updated_at')
        .description('Field by which pages are sorted: `created_at`, `updated_at`, or `id` of the file.'),
      order_dir: orderDirection().default('desc').description('`desc`: the newest first; `asc`: the oldest first.'),
      pagination: pagination(),
    }).description('Which scraped pages to list, in which order and page. `{}` lists the 10 that changed last.'),
  ),
  answer: listOf('UserFilesV2', fileRecord, 'files'),
  handle({ caller, body, deps: { store, workflowLink } }) {
    const filters: FileFilters = { sources: [WEB_PAGE_SOURCE], includeContainers: false, ids: body.filters.ids ?? [] };
    const page = toPage(body.pagination);
    const count = store.files.count(caller, filters, page.startingId);
    async function* rows() {
      const listing = { filters, orderBy: body.order_by, orderDir: body.order_dir, page };
      for await (const files of store.files.list(caller, listing))
        yield files.map((file) => presentFile(file, { workflowLink }));
    }
    return Promise.resolve(new ListAnswer(count, rows()));
  },
});

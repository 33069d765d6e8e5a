import Joi from 'joi';

import type { FileFilters } from '../../contract/fileFilters.js';
import { WEB_PAGE_SOURCE } from '../../contract/scrapeSitemap.js';
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
  summary: "Lists the caller's scraped pages.",
  description: [],
  body: named(
    'UserWebPagesRequest',
    Joi.object({
      filters: named('UserWebPagesFilters', Joi.object({ ids: orNull(idList()) })).default({}),
      order_by: named('UserWebPageOrderByTypes', Joi.string().valid('created_at', 'updated_at', 'id')).default(
        'updated_at',
      ),
      order_dir: orderDirection().default('desc'),
      pagination: pagination(),
    }),
  ),
  answer: listOf('UserFilesV2', fileRecord),
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

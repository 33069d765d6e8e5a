import Joi from 'joi';

import { MAX_PAGE_LIMIT } from '../../contract/files/fileFilters.js';
import type { FileDoc } from '../../store/models/files.js';
import { HttpError, notFound } from '../http/errors.js';
import { type Call, type Documentation, operation } from '../http/operation.js';
import { pathId } from '../http/pathId.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord, listOf } from '../schemas/answers.js';
import { integer } from '../schemas/fields.js';

/** Returns the scrape in the path with its held deletions. @throws HttpError 404; 409 if there are none */
async function heldScrapeOf({
  params,
  caller,
  deps,
}: Pick<Call<'key', unknown>, 'params' | 'caller' | 'deps'>): Promise<FileDoc> {
  const scrape = await deps.store.files.findContainerInOrganization(caller.organizationId, pathId(params, 'file_id'));
  if (!scrape) throw notFound('file');
  if (scrape.fileMetadata['deletions_held'] === undefined)
    throw new HttpError(409, 'No deletions of this scrape are held.');
  return scrape;
}

/** GET /files/held_deletions: lists scrapes whose last run missed too many known pages, and therefore deleted none. */
export const listHeldScrapes = operation({
  method: 'get',
  path: '/files/held_deletions',
  operationId: 'list_held_page_deletions',
  tag: 'Held Deletions',
  auth: 'key',
  summary: 'List scrapes with held deletions',
  description: [
    'Lists scrapes of all users whose last scheduled run missed too many known pages, and therefore deleted none: more than 10 pages and more than `MASS_DELETE_PERCENT` of the site, or all pages. The likely cause is a fault of the site. `file_metadata.deletions_held` has the number of missing pages. Check the site, then approve or refuse the deletions of each scrape.',
  ],
  returns: 'Parent files of the scrapes with held deletions, and the total number of such scrapes.',
  query: Joi.object({
    limit: integer()
      .min(1)
      .max(MAX_PAGE_LIMIT)
      .default(100)
      .description('Maximum number of scrapes in the response. `count` has the number of all with held deletions.'),
    offset: integer()
      .min(0)
      .default(0)
      .description('Number of scrapes with held deletions to skip before the first one of the response.'),
  }),
  answer: listOf('UserFilesV2', fileRecord, 'files'),
  async handle({ caller, query, deps: { store, workflowLink } }) {
    const page = query;
    const { found, count } = await store.files.listHeldContainers(caller.organizationId, page);
    return { results: found.map((file) => presentFile(file, { workflowLink })), count };
  },
});

const decision = (decides: 'approve' | 'refuse', documented: Documentation & { readonly summary: string }) =>
  operation({
    ...documented,
    method: 'post',
    path: `/files/{file_id}/held_deletions/${decides}`,
    auth: 'key',
    answer: fileRecord,
    async handle(call) {
      const heldScrape = await heldScrapeOf(call);
      const file = (await call.deps.store.files.decideDeletions(heldScrape, decides === 'approve')) ?? heldScrape;
      return presentFile(file, call.deps);
    },
  });

/** POST /files/{file_id}/held_deletions/approve: lets the next run delete all missing pages. */
export const approvePageDeletions = decision('approve', {
  operationId: 'approve_held_page_deletions',
  tag: 'Held Deletions',
  summary: 'Approve held page deletions',
  description: [
    'Approves the deletion of the pages that a scheduled scrape did not find. Nothing is deleted yet: the next scheduled scrape deletes all pages that are still missing. The approval applies to that scrape only. A scrape without held deletions returns 409.',
  ],
  returns: 'Record of the parent file. `deletions_held` stays until the next scheduled scrape.',
});

/** POST /files/{file_id}/held_deletions/refuse: keeps the pages; later scrapes are checked separately. */
export const refusePageDeletions = decision('refuse', {
  operationId: 'refuse_held_page_deletions',
  tag: 'Held Deletions',
  summary: 'Refuse held page deletions',
  description: [
    'Keeps the pages that a scheduled scrape did not find, and removes the scrape from `GET /files/held_deletions`. Later scheduled scrapes are checked separately, so they may hold deletions again. A scrape without held deletions returns 409.',
  ],
  returns: 'Record of the parent file, without `deletions_held`.',
});

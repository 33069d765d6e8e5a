import Joi from 'joi';

import type { FileRecord } from '../../contract/records.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ApiDeps } from '../deps.js';
import { ListAnswer, operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord, listOf } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { linksOf } from './links.js';
import { fileFilters, listingFields, toListing } from '../schemas/listing.js';
import type { Infer } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';

/** Maximum lifetime of a presigned URL: a week, as in S3. */
const MAX_LINK_SECONDS = 7 * 24 * 3600;

const requestBody = named(
  'OrganizationUserFilesToSyncQueryInput',
  Joi.object({
    ...listingFields(fileFilters().default({ include_all_children: false, non_synced_only: false })),
    include_raw_file: orNull(Joi.boolean(), false).description(
      '`true`: return links to the originals (`presigned_url`).',
    ),
    include_parsed_text_file: orNull(Joi.boolean(), false).description(
      '`true`: return links to the extracted texts (`parsed_text_url`).',
    ),
    include_additional_files: orNull(Joi.boolean(), false).description(
      '`true`: return links to further contents (`additional_presigned_urls`). No source stores any yet.',
    ),
    presigned_url_expiry_time_seconds: integer()
      .min(1)
      .max(MAX_LINK_SECONDS)
      .default(3600)
      .description(
        'Seconds for which the links are valid, at most 604,800 (a week). A later sync of a file invalidates its links sooner.',
      ),
  }).description('Filters, order and page of a list of files, and which links to return.'),
);
type Body = Infer<typeof requestBody>;

async function* records(caller: Tenant, wanted: Body, deps: ApiDeps): AsyncIterable<FileRecord[]> {
  const links = {
    raw: wanted.include_raw_file,
    parsed: wanted.include_parsed_text_file,
    lifeSeconds: wanted.presigned_url_expiry_time_seconds,
  };
  for await (const files of deps.store.files.list(caller, toListing(wanted))) {
    yield files.map((file) => ({
      ...presentFile(file, deps, linksOf(file, links, deps)),
      // No source stores additional files yet, so the map is empty.
      additional_presigned_urls: wanted.include_additional_files ? {} : null,
    }));
  }
}

/** POST /user_files_v2: lists the caller's files. */
export const userFilesV2 = operation({
  method: 'post',
  path: '/user_files_v2',
  operationId: 'user_files_v2_user_files_v2_post',
  tag: 'Files',
  auth: 'reader',
  summary: 'Lists the files of an end user',
  description: [
    'Returns a page of the files that match the filters, and the number of all matches. Use it to show files, to wait for uploads (filter by `ids` or `request_ids` and look at `sync_status`), or to find failed ones (`sync_statuses: ["SYNC_ERROR"]`).',
    'Pages of scrapes, attachments and items of folders are files of their own: `parent_file_ids` lists the children of a file, `root_files_only` leaves them out.',
    'To read many files, order by `id` and set `starting_id` to the last id of the page before: each page then takes the same time. A webhook with FILE_READY replaces polling.',
    'Limits: 10,000 files per page, 10,000 entries per filter.',
  ],
  returns: 'A page of files, and the number of all matches.',
  errors: { 404: null },
  body: requestBody,
  answer: listOf('UserFilesV2', fileRecord),
  handle({ caller, body: wanted, deps }) {
    const { filters, page } = toListing(wanted);
    const count = deps.store.files.count(caller, filters, page.startingId);
    return Promise.resolve(new ListAnswer(count, records(caller, wanted, deps)));
  },
});

/** POST /user_files: the same list as a bare array. */
export const userFiles = operation({
  method: 'post',
  path: '/user_files',
  operationId: 'user_files_user_files_post',
  tag: 'Files',
  auth: 'reader',
  summary: 'Lists the files of an end user as a bare array',
  description: [
    'Returns the same files as `POST /user_files_v2`, as an array without the number of all matches. It takes the same filters, orders and pages.',
    'Published front ends call it; new code should use the newer form.',
  ],
  returns: 'A page of files.',
  replacedBy: 'POST /user_files_v2',
  errors: { 404: null },
  body: requestBody,
  answer: Joi.array().items(fileRecord),
  handle: ({ caller, body: wanted, deps }) => Promise.resolve(new ListAnswer(null, records(caller, wanted, deps))),
});

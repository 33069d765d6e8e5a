import Joi from 'joi';

import type { FileRecord } from '../../contract/files/records.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ApiDeps } from '../http/deps.js';
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
      '`true`: each file with an original has its presigned URL in `presigned_url`. Null: `false`.',
    ),
    include_parsed_text_file: orNull(Joi.boolean(), false).description(
      '`true`: each file with text has a presigned URL of that text in `parsed_text_url`. Null: `false`.',
    ),
    include_additional_files: orNull(Joi.boolean(), false).description(
      '`true`: `additional_presigned_urls` is `{}` instead of null. No source stores additional files yet.',
    ),
    presigned_url_expiry_time_seconds: integer()
      .min(1)
      .max(MAX_LINK_SECONDS)
      .default(3600)
      .description(
        'Seconds for which the presigned URLs are valid, at most a week. A re-sync that replaces the content ends them earlier.',
      ),
  }).description('Filters, order and page of a list of files, and which URLs to include.'),
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
  summary: 'List files',
  description: [
    'Lists files of the calling user with their status, statistics and tags. Use it to follow syncs, to find files by filters, and to get presigned URLs of their contents. Folders and parent files of scrapes are included unless `include_containers` is false. For long lists, order by `id` and continue with the last id as `starting_id`; a page has at most 10,000 files.',
  ],
  returns: 'One page of the matching files, and the number of all that match.',
  body: requestBody,
  answer: listOf('UserFilesV2', fileRecord, 'files'),
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
  summary: 'List files (older form)',
  description: [
    'Lists files of the calling user as an array, without the number of all matches. Filters, order and pages are those of the newer operation.',
  ],
  returns: 'Records of the files of this page, as an array.',
  replacedBy: 'POST /user_files_v2',
  body: requestBody,
  answer: Joi.array().items(fileRecord),
  handle: ({ caller, body: wanted, deps }) => Promise.resolve(new ListAnswer(null, records(caller, wanted, deps))),
});

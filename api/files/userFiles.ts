import Joi from 'joi';

import { notBuilt } from '../http/errors.js';
import { ListAnswer, operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord, listOf } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { fileFilters, type FileListingBody, fileOrder, pagination, toListing } from '../schemas/listing.js';

interface Body extends FileListingBody {
  include_raw_file?: boolean;
  include_parsed_text_file?: boolean;
  include_additional_files?: boolean;
}

/** POST /user_files_v2: the caller's files. */
export const userFilesV2 = operation<'user', Body>({
  method: 'post',
  path: '/user_files_v2',
  auth: 'user',
  summary: "Lists the caller's files.",
  body: Joi.object({
    filters: fileFilters().default({ include_all_children: false, non_synced_only: false }),
    ...fileOrder(),
    pagination: pagination(),
    include_raw_file: orNull(Joi.boolean()),
    include_parsed_text_file: orNull(Joi.boolean()),
    include_additional_files: orNull(Joi.boolean()),
    presigned_url_expiry_time_seconds: integer().min(1).default(3600),
  }),
  answer: listOf(fileRecord),
  async handle({ caller, body, deps: { store } }) {
    if (
      body.include_raw_file === true ||
      body.include_parsed_text_file === true ||
      body.include_additional_files === true
    )
      throw notBuilt('A presigned URL');
    const listing = toListing(body);
    const count = await store.files.count(caller, listing.filters, listing.page.startingId);
    async function* rows() {
      for await (const files of store.files.list(caller, listing)) yield files.map(presentFile);
    }
    return new ListAnswer(count, rows());
  },
});

import Joi from 'joi';

import { ListAnswer, operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord, listOf } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { linksOf } from './links.js';
import { fileFilters, type FileListingBody, fileOrder, pagination, toListing } from '../schemas/listing.js';

/** A presigned URL lasts a week at most, as S3's own do. */
const MAX_LINK_SECONDS = 7 * 24 * 3600;

interface Body extends FileListingBody {
  include_raw_file: boolean;
  include_parsed_text_file: boolean;
  include_additional_files: boolean;
  presigned_url_expiry_time_seconds: number;
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
    include_raw_file: orNull(Joi.boolean(), false),
    include_parsed_text_file: orNull(Joi.boolean(), false),
    include_additional_files: orNull(Joi.boolean(), false),
    presigned_url_expiry_time_seconds: integer().min(1).max(MAX_LINK_SECONDS).default(3600),
  }),
  answer: listOf(fileRecord),
  async handle({ caller, body, deps }) {
    const { store } = deps;
    const listing = toListing(body);
    const wanted = {
      raw: body.include_raw_file,
      parsed: body.include_parsed_text_file,
      lifeSeconds: body.presigned_url_expiry_time_seconds,
    };
    const count = await store.files.count(caller, listing.filters, listing.page.startingId);
    async function* rows() {
      for await (const files of store.files.list(caller, listing)) {
        yield files.map((file) => ({
          ...presentFile(file, linksOf(file, wanted, deps)),
          // No source keeps additional files yet: an empty map is the truth.
          additional_presigned_urls: body.include_additional_files ? {} : null,
        }));
      }
    }
    return new ListAnswer(count, rows());
  },
});

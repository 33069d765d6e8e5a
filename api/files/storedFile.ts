import Joi from 'joi';

import { notFound } from '../http/errors.js';
import { type Documentation, operation } from '../http/operation.js';
import { pathId } from '../http/pathId.js';
import { linksOf } from './links.js';
import { named } from '../schemas/reference.js';

/** Lifetime of a link in seconds, equal to the default of `presigned_url_expiry_time_seconds` in lists of files. */
const LIFE_SECONDS = 3600;

/** Creates GET /raw_file/{file_id} and /parsed_file/{file_id}, which return a presigned URL of a stored content. */
const linkTo = (kind: 'raw' | 'parsed', what: string, documented: Documentation) =>
  operation({
    ...documented,
    method: 'get',
    path: `/${kind}_file/{file_id}`,
    auth: 'user',
    summary: `Get a download URL of the ${what}`,
    answer: named(
      'PresignedURLResponse',
      Joi.object({
        presigned_url: Joi.string()
          .required()
          .description('Address from which the content can be downloaded for one hour, without credentials.'),
      }).description('Address from which a stored content can be downloaded for one hour.'),
    ),
    async handle({ caller, params, deps }) {
      const [file] = await deps.store.files.byIds(caller, [pathId(params, 'file_id')]);
      if (!file) throw notFound('file');
      const wanted = { raw: kind === 'raw', parsed: kind === 'parsed', lifeSeconds: LIFE_SECONDS };
      const url = linksOf(file, wanted, deps)[kind];
      if (url === null) throw notFound(`${what} of this file. It exists once the file was synced`);
      return { presigned_url: url };
    },
  });

export const rawFile = linkTo('raw', 'original', {
  operationId: 'raw_file_raw_file__file_id__get',
  tag: 'Files',
  description: [
    'Returns a URL under which the original of a file can be downloaded for one hour without credentials: the uploaded or fetched bytes. It returns 404 until the file has such content. In lists, set `include_raw_file`.',
  ],
  returns: 'Temporary URL of the uploaded or fetched bytes, valid for one hour.',
  replacedBy: 'POST /user_files_v2',
});
export const parsedFile = linkTo('parsed', 'extracted text', {
  operationId: 'parsed_file_parsed_file__file_id__get',
  tag: 'Files',
  description: [
    'Returns a URL under which the text that was extracted from a file can be downloaded for one hour without credentials. It returns 404 until the file was synced, and for content without text. In lists, set `include_parsed_text_file`.',
  ],
  returns: 'Temporary URL of the extracted text, valid for one hour.',
  replacedBy: 'POST /user_files_v2',
});

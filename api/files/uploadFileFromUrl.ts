import Joi from 'joi';

import { formatOfName, mimeTypeOf } from '../../contract/files/fileFormats.js';
import { normaliseUrl } from '../../contract/urls.js';
import { uploadRecordFields, nameInUrl } from '../../contract/files/uploads.js';
import { invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { fileRecord } from '../schemas/answers.js';
import { address, orNull } from '../schemas/fields.js';
import { chunkFields, coldStorage, readingFields, toColdStorage, toUploadIngest } from '../schemas/uploads.js';
import { acceptUpload } from './acceptUpload.js';
import { named } from '../schemas/reference.js';

/** Maximum length of a file name. */
const MAX_NAME = 1_024;

/**
 * POST /upload_file_from_url: returns a record at once. The workflow fetches the file and stores it like an uploaded
 * one.
 */
export const uploadFileFromUrl = operation({
  method: 'post',
  path: '/upload_file_from_url',
  operationId: 'create_upload_file_from_url_upload_file_from_url_post',
  tag: 'Files',
  auth: 'user',
  summary: 'Upload a file from a URL',
  description: [
    'Creates a record for a file at a URL and returns it immediately; a workflow fetches the file afterwards and stores it like an uploaded one. It is fetched once: later re-syncs read the stored content. Until it is fetched, `source` is guessed from the extension of the name, such as `PDF` for `.pdf`. Wait for FILE_READY or FILE_ERROR, or poll `POST /user_files_v2`. A URL that cannot be fetched, an unsupported format and more than `MAX_UPLOAD_BYTES` bytes end in `SYNC_ERROR` with the reason. An address that the server may not call, such as a private IP, returns 422.',
  ],
  returns: 'Record of the new file, whose content is not fetched yet.',
  createsWork: true,
  body: named(
    'UploadFileFromUrlInput',
    Joi.object({
      url: address().description('http(s) URL of the file, without credentials. It has at most 8,192 characters.'),
      file_name: orNull(Joi.string().max(MAX_NAME)).description(
        'Name of the new file, with its extension; at most 1,024 characters. Null: the last part of the path of the URL, or its host.',
      ),
      ...chunkFields(),
      ...readingFields(),
      use_textract: Joi.boolean()
        .default(false)
        .description(
          '`true`: OCR reads pictures, and those pages of a PDF that have no text. It is `use_ocr` of `POST /uploadfile` under an older name.',
        ),
      cold_storage_params: coldStorage(),
    }).description('Address of the file to fetch, and the options of its chunks and vectors.'),
  ),
  answer: fileRecord,
  handle({ caller, body, deps }) {
    const url = normaliseUrl(body.url);
    if (url === null)
      throw invalid(['body', 'url'], 'Give the http(s) address of a file, without credentials', 'url_type');
    const name = body.file_name ?? nameInUrl(url);
    // Guessed from the name until the file is fetched.
    const format = formatOfName(name) ?? 'TXT';
    const { source } = uploadRecordFields({ format, mimeType: mimeTypeOf(format) }, name, 0);
    return acceptUpload(
      caller,
      {
        name,
        recordFields: { source },
        draft: null,
        externalUrl: url,
        options: toUploadIngest(body, body.use_textract),
        sourceOptions: { url, contentType: null, fileName: body.file_name ?? null },
        coldStorage: toColdStorage(body.cold_storage_params),
      },
      deps,
    );
  },
});

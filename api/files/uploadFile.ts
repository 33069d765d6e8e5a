import Joi from 'joi';

import { Fault } from '../../contract/failures.js';
import { uploadRecordFields, mediaTypeHint } from '../../contract/files/uploads.js';
import type { ApiDeps } from '../http/deps.js';
import { HttpError } from '../http/errors.js';
import { operation } from '../http/operation.js';
import type { ReceivedFile } from '../http/body/receiveFile.js';
import { fileRecord } from '../schemas/answers.js';
import { chunkFields, coldStorageFields, readingFields, toColdStorage, toUploadIngest } from '../schemas/uploads.js';
import { acceptUpload } from './acceptUpload.js';

/**
 * Returns the type of an upload, by its first bytes and its name. @throws HttpError 400 for types that the service does
 * not support
 */
function identify({ name, contentType, draft }: ReceivedFile, deps: ApiDeps) {
  try {
    return deps.identify({ bytes: draft.head, contentType: mediaTypeHint(contentType), name });
  } catch (error) {
    if (error instanceof Fault) throw new HttpError(400, error.message);
    throw error;
  }
}

/** POST /uploadfile: stores a file while it arrives, returns its record, and leaves parsing to a workflow. */
export const uploadFile = operation({
  method: 'post',
  path: '/uploadfile',
  operationId: 'create_upload_file_uploadfile_post',
  tag: 'Files',
  auth: 'user',
  summary: 'Upload a file',
  description: [
    'Stores one file and returns its record; a workflow reads, chunks and embeds it afterwards. Send a form with the field `file`; options are query parameters, and other form fields are ignored. The format is detected from the first 64 KB, and from the name if these do not show it; an unsupported format returns 400. Wait for FILE_READY or FILE_ERROR, or poll `POST /user_files_v2` until `sync_status` is `READY` or `SYNC_ERROR`. A file has at most `MAX_UPLOAD_BYTES` bytes (413). If the user has reached `max_files` or `max_characters`, the file waits as `DELAYED` until files are deleted or the limit is raised.',
  ],
  returns: 'Record of the new file, whose content is not processed yet.',
  createsWork: true,
  takesFile: true,
  query: Joi.object({
    ...chunkFields(),
    ...readingFields(),
    use_ocr: Joi.boolean()
      .default(false)
      .description(
        '`true`: OCR reads pictures, and those pages of a PDF that have no text, in the languages of `OCR_LANGUAGES`. The file is `QUEUED_FOR_OCR` meanwhile.',
      ),
    ...coldStorageFields(),
  }),
  answer: fileRecord,
  async handle({ caller, query, file, deps }) {
    if (file === null) throw new Error('The upload has no file');
    const found = identify(file, deps);
    const options = toUploadIngest(query, query.use_ocr);
    return acceptUpload(
      caller,
      {
        name: file.name === '' ? null : file.name,
        recordFields: uploadRecordFields(found, file.name, file.draft.size),
        draft: file.draft,
        externalUrl: null,
        options,
        sourceOptions: { url: null, contentType: mediaTypeHint(file.contentType) },
        coldStorage: toColdStorage(query),
        ...(found.namedAs === null ? {} : { fileMetadata: { named_as: found.namedAs } }),
      },
      deps,
    );
  },
});

import Joi from 'joi';

import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import type { FileRecord } from '../../contract/files/records.js';
import { mimeTypeOf } from '../../contract/files/fileFormats.js';
import { uploadRecordFields, RAW_TEXT_SOURCE } from '../../contract/files/uploads.js';
import type { DraftOriginal } from '../../store/originals/originals.js';
import type { ApiDeps } from '../http/deps.js';
import { HttpError, notFound } from '../http/errors.js';
import { operation, type UserCaller } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { chunkFields, coldStorage, toColdStorage, toUploadIngest } from '../schemas/uploads.js';
import { acceptRun, acceptUpload, newUploadRun, type UploadRequest, workflowOf } from './acceptUpload.js';
import { busy, refuseBusy } from './refuseBusy.js';
import { named } from '../schemas/reference.js';
import { embeddingModel } from '../schemas/enums.js';

/** Minimum length of a text. */
const MIN_TEXT = 5;
const MAX_NAME = 1_024;

/**
 * Replaces a text. The record with its id and tags stays; searches find the old text until the new one is processed.
 * @throws HttpError 404 for an unknown file, 400 for a file that was not uploaded as a text, 409 while it is being
 * synced
 */
async function overwrite(
  caller: UserCaller,
  fileId: number,
  { draft, recordFields, name, options, coldStorage: cold }: UploadRequest & { draft: DraftOriginal },
  deps: ApiDeps,
): Promise<FileRecord> {
  const { store, unit } = deps;
  const run = await newUploadRun(deps);
  const { runId, requestId, uploadId } = run;
  const original = { id: draft.id, size: draft.size, sha256: draft.sha256 };
  const { file, row } = await unit.transaction(async (session) => {
    const [storedFile] = await store.files.byIds(caller, [fileId]);
    if (!storedFile) throw notFound('file');
    if (storedFile.source !== RAW_TEXT_SOURCE)
      throw new HttpError(400, 'Only a text of /upload_text can be overwritten. Upload this one as a new file.');
    refuseBusy(storedFile);
    const { statistics = null } = recordFields;
    const change = { original, callerChunks: null, statistics, uploadId, ...cold, ...(name === null ? {} : { name }) };
    const again = { options, runId, requestId, workflowId: workflowOf(caller, fileId, draft), change };
    const queued = await store.files.queueAgain(caller, storedFile, again, session);
    if (!queued) throw busy();
    const owner = { ...caller, fileId };
    for (const old of [storedFile.original, storedFile.callerChunks])
      if (old) await store.originals.release(owner, old.id, session);
    await store.originals.accept(draft, fileId, session);
    return { file: queued, row: await acceptRun(caller, { file: queued, draft }, run, deps, session) };
  });
  unit.start(runId, row);
  return presentFile(file, deps);
}

/** POST /upload_text: stores a text, returns its record, and leaves the processing to a workflow. */
export const uploadText = operation({
  method: 'post',
  path: '/upload_text',
  operationId: 'create_raw_text_upload_text_post',
  tag: 'Files',
  auth: 'user',
  summary: 'Upload a text',
  description: [
    'Stores a text and returns its record; a workflow chunks and embeds it afterwards. Use it for content that you already have as text: it is always read as plain text. With `overwrite_file_id` it replaces an earlier text: searches find the old chunks until the new ones are ready. That file must be `RAW_TEXT` (400) and in a final state (409). Wait for FILE_READY or FILE_ERROR. The body has at most `MAX_CONTENTS_BYTES` bytes (413).',
  ],
  returns:
    'Record of the new or overwritten file, whose text is not processed yet. FILE_READY or FILE_ERROR reports the end.',
  createsWork: true,
  takesContents: true,
  body: named(
    'RawTextInput',
    Joi.object({
      contents: Joi.string()
        .min(MIN_TEXT)
        .required()
        .description('The text, of at least 5 characters. It is read as plain text, whatever markup it has.'),
      name: orNull(Joi.string().max(MAX_NAME)).description(
        'Name of the file, of at most 1,024 characters. Null: no name; when a text is overwritten, the old one stays.',
      ),
      ...chunkFields(),
      embedding_model: orNull(embeddingModel(), DEFAULT_INGEST_OPTIONS.embeddingModel).description(
        'Model that embeds the chunks. Searches find the text only if they name the same model. Null: `OPENAI`.',
      ),
      generate_sparse_vectors: orNull(Joi.boolean(), false).description(
        '`true`: chunks also get sparse vectors, by which a search with `hybrid_search` ranks chunks by their words. It has no effect with `skip_embedding_generation` or `generate_chunks_only`. Null: `false`.',
      ),
      overwrite_file_id: orNull(integer()).description(
        '`id` of an earlier text of this operation, which the new text replaces. Null: a new file is created.',
      ),
      cold_storage_params: coldStorage(),
    }).description('Text of a new file, and the options of its chunks and vectors.'),
  ),
  answer: fileRecord,
  async handle({ caller, body, receive, deps }) {
    const draft = await receive(Buffer.from(body.contents));
    const format = { format: 'TXT', mimeType: mimeTypeOf('TXT') } as const;
    const upload = {
      name: body.name ?? null,
      recordFields: { ...uploadRecordFields(format, '', draft.size), source: RAW_TEXT_SOURCE },
      draft,
      externalUrl: null,
      options: toUploadIngest(body),
      sourceOptions: { url: null, contentType: 'text/plain; charset=utf-8' },
      coldStorage: toColdStorage(body.cold_storage_params),
    };
    return body.overwrite_file_id === undefined
      ? acceptUpload(caller, upload, deps)
      : overwrite(caller, body.overwrite_file_id, upload, deps);
  },
});

import Joi from 'joi';

import type { FileDoc } from '../../store/models/files.js';
import { invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { queueResync } from './queueResync.js';
import type { Infer } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';

const requestBody = named(
  'ResyncFileQueryInput',
  Joi.object({
    file_id: integer().required().description('`id` of the file, or of the parent of a scrape, feed or folder.'),
    chunk_size: orNull(integer().min(1)).description(
      'Maximum number of tokens (cl100k) per chunk, stored for later syncs. Null: the stored value stays.',
    ),
    chunk_overlap: orNull(integer().min(0)).description(
      'Maximum number of tokens that neighbouring chunks share, less than the chunk size (422). Null: the stored value, reduced to less than the chunk size if necessary.',
    ),
    force_embedding_generation: Joi.boolean()
      .default(false)
      .description(
        '`true`: creates vectors for a file that was ingested with `skip_embedding_generation` or `generate_chunks_only`. Later syncs of the file create them too.',
      ),
    skip_file_processing: orNull(Joi.boolean(), false).description(
      '`true`: nothing is fetched or chunked; the file ends as `READY_TO_SYNC`. Null: `false`.',
    ),
  }).description('The file to sync, and options that replace its stored ones.'),
);
type Body = Infer<typeof requestBody>;

/**
 * Returns the file's stored options with the overrides of this call. @throws HttpError 422 if the requested overlap is
 * not less than the chunk size
 */
function overridden({ options }: FileDoc, body: Body): FileDoc['options'] {
  const chunkSize = body.chunk_size ?? options.chunkSize;
  if (body.chunk_overlap !== undefined && body.chunk_overlap >= chunkSize) {
    throw invalid(['body', 'chunk_overlap'], `Must be less than the chunk_size of ${chunkSize}`, 'less_than_equal');
  }
  return {
    ...options,
    chunkSize,
    chunkOverlap: Math.min(body.chunk_overlap ?? options.chunkOverlap, chunkSize - 1),
    ...(body.force_embedding_generation ? { skipEmbeddingGeneration: false, generateChunksOnly: false } : {}),
    skipFileProcessing: body.skip_file_processing,
  };
}

/**
 * POST /resync_file: syncs a file again; for a scrape's parent, the scrape runs again. Returns the record, already
 * queued.
 */
export const resyncFile = operation({
  method: 'post',
  path: '/resync_file',
  operationId: 'resync_file_resync_file_post',
  tag: 'Files',
  auth: 'user',
  summary: 'Sync a file again',
  description: [
    'Queues a new sync of one file, with its stored options and those of this request. Use it after its source has changed, or to try again after an error. The parent of a scrape, feed or folder syncs again as a whole. Chunks that you uploaded are replaced by chunks of the content, except with `skip_file_processing`. The file must be `READY`, `SYNC_ERROR`, `SYNC_ABORTED` or `READY_TO_SYNC`, else 409. An upload whose content was deleted also returns 409. FILE_READY or FILE_ERROR reports the end, also if nothing has changed; FILES_SKIPPED does so after `skip_file_processing` or an abort.',
  ],
  returns: 'Record of the file, which waits for its new sync.',
  createsWork: true,
  body: requestBody,
  answer: fileRecord,
  async handle({ caller, body, deps }) {
    // A new sync creates chunks from the content and replaces those that the caller supplied. One that processes
    // nothing keeps them: no chunks replace them, and later syncs of the file still need them.
    const { runId, file } = await queueResync(deps, caller, body.file_id, {
      optionsOf: (storedOptions) => overridden(storedOptions, body),
      change: body.skip_file_processing ? {} : { callerChunks: null },
    });
    deps.unit.start(runId);
    return presentFile(file, deps);
  },
});

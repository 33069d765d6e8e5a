import Joi from 'joi';

import type { FileDoc } from '../../store/files/model.js';
import { invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { queueResync } from './queueResync.js';
import type { Infer } from '../schemas/inferred.js';

const requestBody = Joi.object({
  file_id: integer().required(),
  chunk_size: orNull(integer().min(1)),
  chunk_overlap: orNull(integer().min(0)),
  force_embedding_generation: Joi.boolean().default(false),
  skip_file_processing: orNull(Joi.boolean(), false),
});
type Body = Infer<typeof requestBody>;

/** The file's stored options with what this call overrides. @throws HttpError 422 when the overlap no longer fits */
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

/** POST /resync_file: syncs a file again; a scrape's parent runs that scrape again. Answers the record, already queued. */
export const resyncFile = operation({
  method: 'post',
  path: '/resync_file',
  auth: 'user',
  summary: 'Queues a fresh sync of one file.',
  createsWork: true,
  body: requestBody,
  answer: fileRecord,
  async handle({ caller, body, deps }) {
    // A fresh sync makes chunks of the content: those that a caller gave go.
    const { runId, file } = await queueResync(deps, caller, body.file_id, {
      optionsOf: (known) => overridden(known, body),
      change: { givenChunks: null },
    });
    deps.unit.start(runId);
    return presentFile(file, deps);
  },
});

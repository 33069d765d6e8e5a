import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { CONTAINER_WORKFLOW_IDS, workflowIds } from '../../contract/orchestration.js';
import { tagObject } from '../../contract/tags.js';
import { UPLOAD_SOURCES, type UploadOptions } from '../../contract/uploads.js';
import type { FileDoc } from '../../store/files/model.js';
import { HttpError, invalid, notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { busy, refuseBusy } from './refuseBusy.js';

interface Body {
  file_id: number;
  chunk_size?: number;
  chunk_overlap?: number;
  force_embedding_generation: boolean;
  skip_file_processing: boolean;
}

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

/** @throws HttpError 409 for an upload whose content was deleted: there is no source to have it from again */
function refuseEmptied({ fileContentsDeleted, original, source, sourceOptions }: FileDoc): void {
  const fromUrl = (sourceOptions as UploadOptions | null)?.url ?? null;
  if (fileContentsDeleted && !original && fromUrl === null && UPLOAD_SOURCES.includes(source))
    throw new HttpError(409, 'The content of this upload was deleted. Upload it again as a new file.');
}

/** POST /resync_file: syncs a file again; a scrape's parent runs that scrape again. Answers the record, already queued. */
export const resyncFile = operation<'user', Body>({
  method: 'post',
  path: '/resync_file',
  auth: 'user',
  summary: 'Queues a fresh sync of one file.',
  createsWork: true,
  body: Joi.object({
    file_id: integer().required(),
    chunk_size: orNull(integer().min(1)),
    chunk_overlap: orNull(integer().min(0)),
    force_embedding_generation: Joi.boolean().default(false),
    skip_file_processing: orNull(Joi.boolean(), false),
  }),
  answer: fileRecord,
  async handle({ caller, body, deps: { store, dispatcher } }) {
    const runId = await store.runs.nextId();
    const requestId = randomUUID();
    const file = await store.transaction(async (session) => {
      const [known] = await store.files.byIds(caller, [body.file_id]);
      if (!known) throw notFound('file');
      refuseBusy(known);
      refuseEmptied(known);
      const containerKind = known.runKind ?? 'scrapeSitemap';
      const kind = known.isContainer ? containerKind : 'resyncFile';
      const workflowId = (known.isContainer ? CONTAINER_WORKFLOW_IDS[containerKind] : workflowIds.resync)(known._id);
      const options = overridden(known, body);
      // A fresh sync makes chunks of the content: those that a caller gave go.
      const change = { givenChunks: null };
      const again = { options, runId, workflowId, requestId, change };
      const queued = await store.files.queueAgain(caller, known, again, session);
      if (!queued) throw busy();
      const owner = { ...caller, fileId: known._id };
      if (known.givenChunks) await store.originals.release(owner, known.givenChunks.id, session);
      const request = known.isContainer
        ? {
            url: known.externalUrl ?? known.externalFileId,
            tags: tagObject(known.tags),
            ingest: options,
            scrape: known.sourceOptions,
          }
        : {};
      await store.runs.accept(
        runId,
        {
          kind,
          workflowId,
          owner: caller,
          fileId: known._id,
          ...(known.dataSourceId !== null && { dataSourceId: known.dataSourceId }),
          requestId,
          options: request,
        },
        session,
      );
      return queued;
    });
    void dispatcher.start(runId);
    return presentFile(file);
  },
});

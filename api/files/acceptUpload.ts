import { randomBytes, randomUUID } from 'node:crypto';

import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import { uploadEvent } from '../../contract/events.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { FileRecord } from '../../contract/files/records.js';
import type { uploadRecordFields, UploadOptions } from '../../contract/files/uploads.js';
import type { DraftOriginal } from '../../store/originals/originals.js';
import type { FileDoc } from '../../store/models/files.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { Session } from '../../store/database/sequence.js';
import type { ApiDeps } from '../http/deps.js';
import { HttpError } from '../http/errors.js';
import type { UserCaller } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { toOcrProperties } from '../schemas/uploads.js';

/** An upload as its sender describes it. */
export interface UploadRequest {
  readonly name: string | null;
  /** Source of the file and, if its content was received, its statistics. */
  readonly recordFields: Omit<ReturnType<typeof uploadRecordFields>, 'statistics'> &
    Partial<ReturnType<typeof uploadRecordFields>>;
  /** Null: the workflow fetches the content. */
  readonly draft: DraftOriginal | null;
  readonly externalUrl: string | null;
  readonly options: IngestOptions;
  readonly sourceOptions: UploadOptions;
  readonly coldStorage: { readonly supportsColdStorage: boolean; readonly hotStorageTimeToLive: number | null };
  readonly fileMetadata?: Readonly<Record<string, unknown>>;
}

/** The run that ingests a file, and the ids in its events. */
export interface UploadRun {
  readonly runId: number;
  readonly requestId: string;
  readonly uploadId: string;
}

export async function newUploadRun({ store }: ApiDeps): Promise<UploadRun> {
  return { runId: await store.runs.nextId(), requestId: randomUUID(), uploadId: randomUUID() };
}

/** @throws HttpError 400 if a limit allows the user no file per upload */
async function refuseOverLimit(caller: UserCaller, { store }: ApiDeps): Promise<void> {
  const { max_files_per_upload: maxFiles } = await store.limits.get(caller);
  if (maxFiles !== null && maxFiles < 1)
    throw new HttpError(
      400,
      "The user's limit max_files_per_upload is 0. Ask the operator to raise it, then upload again.",
    );
}

/** Accepts a file with the run that reads it. File and content are stored when this resolves. */
export async function acceptUpload(caller: UserCaller, upload: UploadRequest, deps: ApiDeps): Promise<FileRecord> {
  const { store, unit, log } = deps;
  await refuseOverLimit(caller, deps);
  const run = await newUploadRun(deps);
  const { runId, requestId, uploadId } = run;
  const { draft, recordFields, options } = upload;
  const { file, row } = await unit.transaction(async (session) => {
    const { file: accepted } = await store.files.accept(
      caller,
      {
        source: recordFields.source,
        externalFileId: randomBytes(16).toString('hex'),
        externalUrl: upload.externalUrl,
        name: upload.name,
        parentId: null,
        isContainer: false,
        tags: {},
        options,
        sourceOptions: upload.sourceOptions,
        upload: {
          uploadId,
          original: draft && { id: draft.id, size: draft.size, sha256: draft.sha256 },
          statistics: recordFields.statistics ?? null,
          ocrProperties: toOcrProperties(options),
          ...upload.coldStorage,
        },
        ...(upload.fileMetadata ? { fileMetadata: upload.fileMetadata } : {}),
        enableAutoSync: null,
        requestId,
        runId,
        workflowOf: (fileId) => workflowOf(caller, fileId, draft),
      },
      session,
    );
    if (draft) await store.originals.accept(draft, accepted._id, session);
    return { file: accepted, row: await acceptRun(caller, { file: accepted, draft }, run, deps, session) };
  });
  const { organizationId, userId } = caller;
  log.info({ runId, requestId, organizationId, userId, fileId: file._id, bytes: draft?.size }, 'upload accepted');
  unit.start(runId, row);
  return presentFile(file, deps);
}

/**
 * Returns the id of the workflow that processes an upload. One workflow per user processes all uploaded contents; each
 * file to fetch has its own workflow.
 */
export const workflowOf = ({ userId }: UserCaller, fileId: number, draft: DraftOriginal | null): string =>
  draft ? workflowIds.uploads(userId) : workflowIds.upload(fileId);

/** Writes the run of an accepted upload, and the event ALL_UPLOADED_FILES_QUEUED. */
export async function acceptRun(
  owner: UserCaller,
  { file, draft }: { readonly file: FileDoc; readonly draft: DraftOriginal | null },
  { runId, requestId, uploadId }: UploadRun,
  { store }: ApiDeps,
  session: Session,
): Promise<RunDoc> {
  const workflowId = workflowOf(owner, file._id, draft);
  const held = file.syncStatus === 'DELAYED';
  const run = {
    kind: 'syncUpload',
    workflowId,
    owner,
    fileId: file._id,
    requestId,
    uploadId,
    held,
    ...(draft && { stream: { bytes: draft.size } }),
  } as const;
  const row = await store.runs.accept(runId, run, session);
  await store.events.write(
    [uploadEvent('ALL_UPLOADED_FILES_QUEUED', { ...owner, requestId, uploadId, workflowId })],
    session,
  );
  return row;
}

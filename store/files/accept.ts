import { mongo } from 'mongoose';

import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import { blankRow, insertRows } from '../database/insertOnce.js';
import { readRow } from '../database/driver.js';
import type { Session } from '../database/sequence.js';
import type { EventWriter } from '../events/events.js';
import type { FileDoc } from '../models/files.js';
import type { Tenant } from '../users/accept.js';
import { acceptMany, type AcceptManyDeps } from './acceptance/acceptMany.js';
import { acceptedWrite, type FileOwner, identityOf, newFile } from './acceptance/records.js';
import { type FileRequest, KNOWN_FIELDS, type KnownFile } from './acceptance/request.js';
import { metadataFields } from './metadataFields.js';
import { RESET_BY_NEW_SYNC, transition, transitionEvents } from './transitions.js';

/** Marks a duplicate key error as transient: the transaction is repeated and finds the file of the other request. */
function throwAsTransient(error: unknown): never {
  if (error instanceof mongo.MongoServerError && error.code === 11000)
    error.addErrorLabel(mongo.MongoErrorLabel.TransientTransactionError);
  throw error;
}

/** Options of a new sync of an existing file. */
export interface SyncAgain {
  readonly options: IngestOptions;
  readonly runId: number;
  readonly workflowId: string;
  readonly requestId: string;
  /** Other fields to change. */
  readonly change?: Partial<
    Pick<
      FileDoc,
      | 'original'
      | 'callerChunks'
      | 'name'
      | 'statistics'
      | 'uploadId'
      | 'supportsColdStorage'
      | 'hotStorageTimeToLive'
      | 'processedAs'
    >
  >;
}

export interface FileAcceptance {
  /** Queues a file that is in a final state; null if its state has changed meanwhile. */
  queueAgain(owner: Tenant, file: FileDoc, again: SyncAgain, session: Session): Promise<FileDoc | null>;
  /**
   * Accepts one file: creates a record, or applies the options of the request to the existing record of the same
   * (organization, user, source, external id, account). An upload is DELAYED if the user's queue has no free slot for
   * uploads; the caller must then delay the run of the upload.
   */
  accept(
    owner: FileOwner,
    request: FileRequest,
    session: Session,
  ): Promise<{ readonly file: FileDoc; readonly isNew: boolean }>;
  /** Returns the id of a file that will be accepted. */
  nextId(): Promise<number>;
  /** Returns the record of a new file without storing it. */
  draft(id: number, owner: FileOwner, request: FileRequest): FileDoc;
  /**
   * Accepts many files of one run; those beyond the user's queue limit are DELAYED. Returns the number of accepted
   * files. Files are matched by external id and account. A page that exists as a container, such as the sitemap of
   * another scrape, is skipped, because the container has its own run and children. In a scheduled sync, the existing
   * files that have content are first compared with their source (EVALUATING_RESYNC), and only the changed ones are
   * synced.
   */
  acceptMany(owner: FileOwner, requests: readonly FileRequest[]): Promise<number>;
}

export interface FileAcceptanceDeps extends Omit<AcceptManyDeps, 'blank'> {
  readonly events: EventWriter;
}

export function createFileAcceptance({ events, ...deps }: FileAcceptanceDeps): FileAcceptance {
  const { files, sequence, queue, ledger } = deps;
  const blank = blankRow(files);
  const draft = (id: number, owner: FileOwner, request: FileRequest, now: Date, fitsQueue: boolean) => ({
    ...newFile(blank, id, owner, request, { now, fitsQueue }),
    fileMetadata: { ...request.fileMetadata },
  });
  return {
    async queueAgain({ organizationId, userId }, file, { change = {}, ...again }, session) {
      await ledger.recordOutcomes([file], again.runId, session);
      const { filter, update } = transition('queueAgain', {
        owner: { organizationId, userId },
        where: { _id: file._id, updatedAt: file.updatedAt },
        seen: file.syncStatus,
        message: null,
        // Without a listed version, the content is always compared.
        set: { ...again, ...change, ...RESET_BY_NEW_SYNC, listedVersion: null, fileContentsDeleted: false },
      });
      return files.findOneAndUpdate(filter, update, { returnDocument: 'after', session }).lean();
    },
    async accept(owner, request, session) {
      const now = new Date();
      // Files that a run finds, and attachments, are queued with that run.
      const isUploaded = request.upload !== undefined && request.parentId === null;
      const fitsQueue = !isUploaded || (await queue.freeUploadSlots(owner, 1)) > 0;
      const existing = await readRow<FileDoc, KnownFile>(files, identityOf(owner, request), {
        fields: KNOWN_FIELDS,
        session,
      });
      if (existing) {
        await ledger.recordOutcomes([existing], request.runId, session);
        const { filter, update } = acceptedWrite(owner, request, existing, { now, fitsQueue });
        const file = await files
          .findOneAndUpdate(
            filter,
            { $set: { ...update.$set, ...metadataFields(request.fileMetadata) } },
            { returnDocument: 'after', session },
          )
          .orFail(() => new Error(`File ${existing._id} was deleted while it was accepted`))
          .lean();
        return { file, isNew: false };
      }
      const file = draft(await sequence.next('file'), owner, request, now, fitsQueue);
      await insertRows(files, [file], session).catch(throwAsTransient);
      await events.write(transitionEvents('create', [file], {}), session);
      return { file, isNew: true };
    },
    nextId: () => sequence.next('file'),
    draft: (id, owner, request) => draft(id, owner, request, new Date(), true),
    acceptMany: (owner, requests) => acceptMany({ ...deps, blank }, owner, requests),
  };
}

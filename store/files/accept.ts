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
import { CONNECT_CREDENTIALS, transition, transitionEvents } from './transitions.js';

/** Of a file that another request has just made: the transaction is run again, and finds it. */
function runAgain(error: unknown): never {
  if (error instanceof mongo.MongoServerError && error.code === 11000)
    error.addErrorLabel(mongo.MongoErrorLabel.TransientTransactionError);
  throw error;
}

/** A known file that is to be synced again. */
export interface SyncAgain {
  readonly options: IngestOptions;
  readonly runId: number;
  readonly workflowId: string;
  readonly requestId: string;
  /** What else is to be another from now on. */
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
  /** Queues a file that is at rest; null when it no longer is. */
  queueAgain(owner: Tenant, file: FileDoc, again: SyncAgain, session: Session): Promise<FileDoc | null>;
  /**
   * Takes one file in: a new record, or the known one of the same (organization, user, source, external id, account) with the
   * new request's options. One that was sent is DELAYED where the user's queue is full; its run is to be held back then.
   */
  accept(
    owner: FileOwner,
    request: FileRequest,
    session: Session,
  ): Promise<{ readonly file: FileDoc; readonly isNew: boolean }>;
  /** An id for a file that is about to be accepted. */
  nextId(): Promise<number>;
  /** The record that a new file will have; nothing is written. */
  draft(id: number, owner: FileOwner, request: FileRequest): FileDoc;
  /**
   * Accepts many files of one run. Those beyond the user's queue limit are DELAYED. Files are matched by external id and account; returns the number of accepted files. A page that is known as
   * a container (the sitemap of another scrape, say) is skipped: it has a run and children of its own. A scheduled sync evaluates known files.
   */
  acceptMany(owner: FileOwner, requests: readonly FileRequest[]): Promise<number>;
}

export interface FileAcceptanceDeps extends Omit<AcceptManyDeps, 'blank'> {
  readonly events: EventWriter;
}

export function createFileAcceptance({ events, ...deps }: FileAcceptanceDeps): FileAcceptance {
  const { files, sequence, queue, ledger } = deps;
  const blank = blankRow(files);
  const draft = (id: number, owner: FileOwner, request: FileRequest, now: Date, inTurn: boolean) => ({
    ...newFile(blank, id, owner, request, { now, inTurn }),
    fileMetadata: { ...request.facts },
  });
  return {
    async queueAgain({ organizationId, userId }, file, { change = {}, ...again }, session) {
      await ledger.handOver([file], again.runId, session);
      const { filter, update } = transition('queueAgain', {
        owner: { organizationId, userId },
        where: { _id: file._id, updatedAt: file.updatedAt },
        seen: file.syncStatus,
        message: null,
        // A request for this very file has it compared.
        set: { ...again, ...change, ...CONNECT_CREDENTIALS, listedVersion: null, fileContentsDeleted: false },
      });
      return files.findOneAndUpdate(filter, update, { returnDocument: 'after', session }).lean();
    },
    async accept(owner, request, session) {
      const now = new Date();
      // What a run finds, or a message contains, has its turn with that run.
      const isSent = request.upload !== undefined && request.parentId === null;
      const inTurn = !isSent || (await queue.roomForSent(owner, 1)) > 0;
      const known = await readRow<FileDoc, KnownFile>(files, identityOf(owner, request), {
        fields: KNOWN_FIELDS,
        session,
      });
      if (known) {
        await ledger.handOver([known], request.runId, session);
        const { filter, update } = acceptedWrite(owner, request, known, { now, inTurn });
        const file = await files
          .findOneAndUpdate(
            filter,
            { $set: { ...update.$set, ...metadataFields(request.facts) } },
            { returnDocument: 'after', session },
          )
          .orFail(() => new Error(`File ${known._id} went while it was accepted`))
          .lean();
        return { file, isNew: false };
      }
      const file = draft(await sequence.take('file'), owner, request, now, inTurn);
      await insertRows(files, [file], session).catch(runAgain);
      await events.write(transitionEvents('create', [file], {}), session);
      return { file, isNew: true };
    },
    nextId: () => sequence.take('file'),
    draft: (id, owner, request) => draft(id, owner, request, new Date(), true),
    acceptMany: (owner, given) => acceptMany({ ...deps, blank }, owner, given),
  };
}

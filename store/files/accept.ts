import type { Model } from 'mongoose';

import { fileEvents } from '../../contract/events.js';
import type { IngestOptions } from '../../contract/ingestOptions.js';
import type { TagValue } from '../../contract/records.js';
import type { SourceType } from '../../contract/sources.js';
import { tagPairs } from '../../contract/tags.js';
import { insertOnce } from '../insertOnce.js';
import type { EventWriter } from '../events/events.js';
import type { Intents } from '../events/intents.js';
import type { Session, Sequence } from '../sequence.js';
import type { Tenant } from '../users/accept.js';
import type { FileDoc, StoredTag } from './model.js';
import { markedFiles } from './told.js';

/** What a request or a listing says of a file that is to be synced. */
export interface FileRequest {
  readonly source: SourceType;
  readonly externalFileId: string;
  readonly externalUrl: string | null;
  /** Used until the content tells a better one. */
  readonly name: string;
  readonly parentId: number | null;
  readonly isContainer: boolean;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly options: IngestOptions;
  readonly sourceOptions: unknown;
  readonly enableAutoSync: boolean | null;
  readonly requestId: string;
  readonly runId: number;
  /** The id of the workflow that will own the file, from the file's id. */
  readonly workflowOf: (fileId: number) => string;
}

const storedTags = (tags: Readonly<Record<string, TagValue>>): StoredTag[] =>
  Object.entries(tags).map(([key, value]) => ({ key, value }));

/** The state of a file that waits for its run, whatever it was before. Content of an earlier sync stays readable. */
function queued(request: FileRequest, fileId: number, now: Date): Partial<FileDoc> {
  const tags = storedTags(request.tags);
  return {
    externalUrl: request.externalUrl,
    parentId: request.parentId,
    tags,
    tagPairs: tagPairs(tags),
    options: request.options,
    sourceOptions: request.sourceOptions,
    enableAutoSync: request.enableAutoSync,
    requestId: request.requestId,
    runId: request.runId,
    workflowId: request.workflowOf(fileId),
    syncStatus: 'QUEUED_FOR_SYNC',
    syncErrorMessage: null,
    attempts: 0,
    unfinishedStarts: 0,
    notBefore: null,
    updatedAt: now,
  };
}

/** How often files are taken in again when another request was quicker with some. */
const INSERT_TRIES = 10;

/** A known file that is to be synced again. */
export interface SyncAgain {
  readonly options: IngestOptions;
  readonly runId: number;
  readonly workflowId: string;
  readonly requestId: string;
}

export interface FileAcceptance {
  /** Queues a file that is at rest; null when it no longer is. */
  queueAgain(owner: Tenant, file: FileDoc, again: SyncAgain, session: Session): Promise<FileDoc | null>;
  /** Takes one file in: a new record, or the known one of the same (organization, user, source, external id) with the new request's options. */
  accept(owner: Tenant & { customerId: string }, request: FileRequest, session: Session): Promise<FileDoc>;
  /** The same for many at once. Files are matched by external id; answers how many there are. */
  acceptMany(owner: Tenant & { customerId: string }, requests: readonly FileRequest[]): Promise<number>;
}

export function createFileAcceptance(
  files: Model<FileDoc>,
  sequence: Sequence,
  events: EventWriter,
  intents: Intents,
): FileAcceptance {
  const key = ({ organizationId, userId }: Tenant, request: FileRequest) => ({
    organizationId,
    userId,
    source: request.source,
    externalFileId: request.externalFileId,
  });
  const onInsert = (_id: number, owner: { customerId: string }, request: FileRequest, now: Date) => ({
    _id,
    customerId: owner.customerId,
    isContainer: request.isContainer,
    name: request.name,
    createdAt: now,
  });
  const nameOf = ({ source, externalFileId }: Pick<FileDoc, 'source' | 'externalFileId'>): string =>
    `${source} ${externalFileId}`;
  const blank = new files().toObject({ minimize: false });
  const newFile = (_id: number, owner: Tenant & { customerId: string }, request: FileRequest, now: Date): FileDoc => ({
    ...structuredClone(blank),
    ...key(owner, request),
    ...queued(request, _id, now),
    ...onInsert(_id, owner, request, now),
  });
  const idsOf = async (
    { organizationId, userId }: Tenant,
    requests: readonly FileRequest[],
  ): Promise<Map<string, number>> => {
    const rows = await files
      .find(
        {
          organizationId,
          userId,
          source: { $in: [...new Set(requests.map((request) => request.source))] },
          externalFileId: { $in: requests.map((request) => request.externalFileId) },
        },
        { source: 1, externalFileId: 1 },
      )
      .lean();
    return new Map(rows.map((row) => [nameOf(row), row._id]));
  };
  /** Inserts those that are not known, and tells of them; false when some were there by then. */
  const insertUnknown = async (
    owner: Tenant & { customerId: string },
    requests: readonly FileRequest[],
    known: ReadonlyMap<string, number>,
    now: Date,
  ): Promise<boolean> => {
    const unknown = requests.filter((request) => !known.has(nameOf(request)));
    const fresh = [...new Map(unknown.map((request) => [nameOf(request), request])).values()];
    if (fresh.length === 0) return true;
    const first = await sequence.take('file', fresh.length);
    const rows = fresh.map((request, index) => newFile(first + index, owner, request, now));
    let all = true;
    await intents.around(fileEvents.created(rows), async (mark) => {
      all = await insertOnce(
        files,
        rows.map((row) => ({ ...row, marks: [mark] })),
      );
      if (all) return 'all';
      return markedFiles(files)(
        mark,
        rows.map(({ _id }) => _id),
      );
    });
    return all;
  };
  return {
    async queueAgain({ organizationId, userId }, file, again, session) {
      const fresh = {
        syncStatus: 'QUEUED_FOR_SYNC' as const,
        syncErrorMessage: null,
        attempts: 0,
        unfinishedStarts: 0,
        notBefore: null,
      };
      return files
        .findOneAndUpdate(
          { _id: file._id, organizationId, userId, syncStatus: file.syncStatus, updatedAt: file.updatedAt },
          { $set: { ...again, ...fresh, fileContentsDeleted: false, updatedAt: new Date() } },
          { returnDocument: 'after', session },
        )
        .lean<FileDoc | null>();
    },
    async accept(owner, request, session) {
      const now = new Date();
      const known = await files.exists(key(owner, request)).session(session);
      const _id = known?._id ?? (await sequence.take('file'));
      const file = await files
        .findOneAndUpdate(
          key(owner, request),
          { $set: queued(request, _id, now), $setOnInsert: onInsert(_id, owner, request, now) },
          { upsert: true, returnDocument: 'after', session, setDefaultsOnInsert: true },
        )
        .lean<FileDoc>();
      if (!known) await events.write(fileEvents.created([file]), session);
      return file;
    },
    async acceptMany(owner, requests) {
      if (requests.length === 0) return 0;
      const now = new Date();
      let known = await idsOf(owner, requests);
      // Another request may be quicker with some: they are known then.
      for (let tries = 1; !(await insertUnknown(owner, requests, known, now)); tries += 1) {
        if (tries === INSERT_TRIES) throw new Error('Other requests kept on taking in the same files');
        known = await idsOf(owner, requests);
      }
      const again = requests.filter((request) => known.has(nameOf(request)));
      if (again.length > 0) {
        // Past mongoose's schema: casting what our own code just built costs more than the write.
        await files.collection.bulkWrite(
          again.map((request) => {
            const id = known.get(nameOf(request)) ?? 0;
            return { updateOne: { filter: { ...key(owner, request) }, update: { $set: queued(request, id, now) } } };
          }),
          { ordered: false },
        );
      }
      return requests.length;
    },
  };
}

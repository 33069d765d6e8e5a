import { type Model, mongo, type QueryFilter } from 'mongoose';

import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import { endedAs, type SkipCause } from '../../contract/runs/ledger.js';
import type { ContainerRunKind } from '../../contract/runs/orchestration.js';
import type { TagValue } from '../../contract/files/records.js';
import type { SourceType } from '../../contract/sources/sources.js';
import type { TypeAtSource } from '../../contract/sources/typesAtSource.js';
import { fileTags, storedTags, tagPairs, upsertTags } from '../../contract/files/tags.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import { blankRow, insertOnce, insertRows } from '../database/insertOnce.js';
import type { EventWriter } from '../events/events.js';
import type { Intents } from '../events/intents.js';
import type { LedgerWriter } from '../ledger/ledger.js';
import type { Selections } from '../selections/selections.js';
import { withoutDeleted } from './withoutDeleted.js';
import type { Session, Sequence } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { Original } from '../models/originals.js';
import type { FileDoc, FileStatistics } from '../models/files.js';
import type { FileQueue } from './queue.js';
import { passKnown, type MetFile } from './evaluate.js';
import { markedFiles } from './changes.js';
import { CONNECT_CREDENTIALS, stateOf, transition, transitionEvents, type Write } from './transitions.js';
import { updateRows } from '../database/updateRows.js';
import { readRow } from '../database/driver.js';

/** What only files have that were sent to us. */
export interface NewUpload {
  readonly uploadId: string | null;
  /** Null for a file that is still to be fetched. */
  readonly original: Original | null;
  /** What is known of it before it is read. */
  readonly statistics: FileStatistics | null;
  readonly ocrProperties: Readonly<Record<string, unknown>>;
  /** Days; null: its vectors are always at hand. */
  readonly hotStorageTimeToLive: number | null;
  readonly supportsColdStorage: boolean;
}

/** Facts from a request or a listing about a file that is to be synced. */
export interface FileRequest {
  readonly source: SourceType;
  readonly externalFileId: string;
  readonly externalUrl: string | null;
  /** Used until the content tells a better one. */
  readonly name: string | null;
  /** When it was made at its source, where that is known. */
  readonly sourceCreatedAt?: Date | null;
  /** What its listing calls the version of its content; null, or absent: it does not tell. */
  readonly version?: string | null;
  /** What kind of thing it is at its source, in the words of file_types_at_source. */
  readonly typeAtSource?: TypeAtSource;
  readonly parentId: number | null;
  readonly isContainer: boolean;
  /**
   * Its account; absent for none. If its tagsVersion has changed once the files are accepted, accept them
   * again: a tag workflow may have passed before they existed.
   */
  readonly dataSource?: Pick<DataSourceDoc, '_id' | 'tags' | 'tagsVersion'>;
  /** For an attachment: the account of its parent. Unset: its data source, or none. */
  readonly accountId?: number | null;
  /** Upserted into those that a known file has. */
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly options: IngestOptions;
  readonly sourceOptions: unknown;
  /** Of a container: the kind of run that brings it up to date. */
  readonly runKind?: ContainerRunKind;
  /** Facts for file_metadata that are known before anything is read. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Content that was sent with the request; absent for fetched content. */
  readonly upload?: NewUpload;
  readonly enableAutoSync: boolean | null;
  /** True for a scheduled sync: a known file is evaluated with its own options and tags. Absent: a request. */
  readonly isPass?: boolean;
  readonly requestId: string;
  readonly runId: number;
  /** The id of the workflow that will own the file, from the file's id. */
  readonly workflowOf: (fileId: number) => string;
}

/** By what a file is known. */
type Identity = Pick<FileDoc, 'source' | 'externalFileId'> & { readonly accountId?: number | null };

/** What of a known record an acceptance keeps. */
type KnownFile = Pick<FileDoc, '_id' | 'isContainer' | 'tags' | 'tagsRevision' | 'runId'> & MetFile;

const KNOWN_FIELDS = {
  ...({ isContainer: 1, tags: 1, tagsRevision: 1, runId: 1 } as const),
  ...({ syncStatus: 1, syncErrorMessage: 1, generation: 1, requestId: 1 } as const),
};

/** Whether a request may have the known file: a container and a page of one name are two things. */
const isAlike = ({ isContainer }: FileRequest, known: KnownFile | undefined): boolean =>
  known === undefined || known.isContainer === isContainer;

/** Within what the external id of a file is one. */
const accountOf = ({ dataSource, accountId = dataSource?._id ?? null }: FileRequest): number | null => accountId;
/** What tells files of one user apart; two accounts may call two things the same. */
const nameOf = ({ source, externalFileId, accountId = null }: Identity): string =>
  `${accountId ?? ''} ${source} ${externalFileId}`;
const nameOfRequest = (request: FileRequest): string => nameOf({ ...request, accountId: accountOf(request) });

/** Times a file's tags may change while it is accepted. */
const TAG_CHANGES = 5;

const QUEUE_FULL = 'It waits for its turn: as many files of the user are queued before it as may be.';

/** Fields of a file that waits for its run. Content of an earlier sync stays readable. */
function requested(
  request: FileRequest,
  fileId: number,
  known: KnownFile | null,
  now: Date,
): Omit<Partial<FileDoc>, 'syncStatus'> {
  const tags = upsertTags(known?.tags ?? [], storedTags(request.tags));
  const { dataSource } = request;
  const sourceTags = dataSource?.tags ?? [];
  return {
    externalUrl: request.externalUrl,
    parentId: request.parentId,
    tags,
    tagPairs: tagPairs(fileTags({ tags, sourceTags })),
    tagsRevision: (known?.tagsRevision ?? 0) + 1,
    ...(dataSource ? { dataSourceId: dataSource._id, sourceTags, sourceTagsVersion: dataSource.tagsVersion } : {}),
    options: request.options,
    sourceOptions: request.sourceOptions,
    enableAutoSync: request.enableAutoSync,
    requestId: request.requestId,
    runId: request.runId,
    workflowId: request.workflowOf(fileId),
    ...(request.runKind === undefined ? {} : { runKind: request.runKind }),
    ...(request.sourceCreatedAt ? { sourceCreatedAt: request.sourceCreatedAt } : {}),
    listedVersion: request.version ?? null,
    ...(request.typeAtSource === undefined ? {} : { fileTypeAtSource: request.typeAtSource }),
    ...request.upload,
    ...CONNECT_CREDENTIALS,
    restoredAt: null,
    updatedAt: now,
  };
}

/** Of a file that another request has just made: the transaction is run again, and finds it. */
function runAgain(error: unknown): never {
  if (error instanceof mongo.MongoServerError && error.code === 11000)
    error.addErrorLabel(mongo.MongoErrorLabel.TransientTransactionError);
  throw error;
}

/** Facts as an update that merges them into file_metadata. */
export const metadataFields = (facts: Readonly<Record<string, unknown>> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [`fileMetadata.${name}`, value]));

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
    owner: Tenant & { customerId: string },
    request: FileRequest,
    session: Session,
  ): Promise<{ readonly file: FileDoc; readonly isNew: boolean }>;
  /** An id for a file that is about to be accepted. */
  nextId(): Promise<number>;
  /** The record that a new file will have; nothing is written. */
  draft(id: number, owner: Tenant & { customerId: string }, request: FileRequest): FileDoc;
  /**
   * Accepts many files of one run. Those beyond the user's queue limit are DELAYED. Files are matched by external id and account; returns the number of accepted files. A page that is known as
   * a container (the sitemap of another scrape, say) is skipped: it has a run and children of its own. A scheduled sync evaluates known files.
   */
  acceptMany(owner: Tenant & { customerId: string }, requests: readonly FileRequest[]): Promise<number>;
}

export interface FileAcceptanceDeps {
  readonly files: Model<FileDoc>;
  readonly sequence: Sequence;
  readonly events: EventWriter;
  readonly intents: Intents;
  readonly queue: FileQueue;
  /** Items whose files their caller has deleted. */
  readonly deleted: Pick<Selections, 'skippedAmong' | 'bringBack'>;
  readonly ledger: Pick<LedgerWriter, 'handOver' | 'note'>;
}

export function createFileAcceptance({
  files,
  sequence,
  events,
  intents,
  queue,
  deleted,
  ledger,
}: FileAcceptanceDeps): FileAcceptance {
  const key = ({ organizationId, userId }: Tenant, request: FileRequest) => ({
    organizationId,
    userId,
    source: request.source,
    externalFileId: request.externalFileId,
    accountId: accountOf(request),
  });
  /** The write that hands a known file to the request's run. */
  const accepted = (
    owner: Tenant,
    request: FileRequest,
    known: KnownFile,
    {
      now,
      inTurn,
      where = {},
    }: { readonly where?: QueryFilter<FileDoc>; readonly now: Date; readonly inTurn: boolean },
  ): Write => {
    const { source, externalFileId, accountId } = key(owner, request);
    return transition(inTurn ? 'accept' : 'acceptDelayed', {
      owner,
      where: { source, externalFileId, accountId, ...where },
      message: inTurn ? null : QUEUE_FULL,
      set: requested(request, known._id, known, now),
    });
  };
  const onInsert = (_id: number, owner: { customerId: string }, request: FileRequest, now: Date) => ({
    _id,
    customerId: owner.customerId,
    isContainer: request.isContainer,
    name: request.name,
    createdAt: now,
  });
  const blank = blankRow(files);
  const newFile = (
    _id: number,
    owner: Tenant & { customerId: string },
    request: FileRequest,
    now: Date,
    inTurn: boolean,
  ): FileDoc => ({
    ...blank,
    ...key(owner, request),
    ...requested(request, _id, null, now),
    ...stateOf(inTurn ? 'create' : 'createDelayed'),
    syncErrorMessage: inTurn ? null : QUEUE_FULL,
    ...onInsert(_id, owner, request, now),
  });
  const draft = (
    id: number,
    owner: Tenant & { customerId: string },
    request: FileRequest,
    now: Date,
    inTurn: boolean,
  ) => ({
    ...newFile(id, owner, request, now, inTurn),
    fileMetadata: { ...request.facts },
  });
  const knownOf = async (
    { organizationId, userId }: Tenant,
    requests: readonly FileRequest[],
  ): Promise<Map<string, KnownFile>> => {
    const rows = await files
      .find(
        {
          organizationId,
          userId,
          source: { $in: [...new Set(requests.map((request) => request.source))] },
          externalFileId: { $in: requests.map((request) => request.externalFileId) },
          accountId: { $in: [...new Set(requests.map(accountOf))] },
        },
        { source: 1, externalFileId: 1, accountId: 1, ...KNOWN_FIELDS },
      )
      .lean();
    return new Map(rows.map((row) => [nameOf(row), row]));
  };
  /** Before known files are given to a run: what others have done with them is kept. */
  const takeFrom = async (
    taken: readonly { readonly request: FileRequest; readonly file: KnownFile }[],
  ): Promise<void> => {
    const [one] = taken;
    if (!one) return;
    await ledger.handOver(
      taken.map(({ file }) => file),
      one.request.runId,
    );
  };
  /** Tells the ledger of what no file is queued for. */
  const leave = (owner: Tenant, left: readonly FileRequest[], cause: SkipCause): Promise<void> => {
    const { organizationId, userId } = owner;
    const run = { organizationId, userId, _id: left[0]?.runId ?? 0 };
    const end = endedAs('skipped', 'select', cause);
    const items = left.map(({ externalFileId, name }) => ({ externalId: externalFileId, name }));
    return ledger.note(
      run,
      items.map((item) => ({ ...item, fileId: null, end, message: null })),
    );
  };
  /** Queues those of the requests whose files are known. Only a file that still has the tags it was read with is written. */
  const queueKnown = async (
    owner: Tenant,
    requests: readonly FileRequest[],
    knownFiles: Map<string, KnownFile>,
    now: Date,
    inTurn: ReadonlySet<FileRequest>,
  ): Promise<void> => {
    let known = knownFiles;
    for (let change = 0; ; change += 1) {
      const open = requests.flatMap((request) => {
        const file = known.get(nameOfRequest(request));
        return file && isAlike(request, file) ? [{ request, file }] : [];
      });
      if (open.length === 0) return;
      await takeFrom(open);
      const matched = await updateRows(
        files,
        open.map(({ request, file }) => {
          const where = { tagsRevision: file.tagsRevision ?? null };
          return accepted(owner, request, file, { now, inTurn: inTurn.has(request), where });
        }),
      );
      if (matched === open.length) return;
      if (change === TAG_CHANGES) throw new Error('tags of files change faster than the files can be accepted');
      // Tags of some of them have changed meanwhile: read them again.
      const fresh = await knownOf(
        owner,
        open.map(({ request }) => request),
      );
      const runs = new Set(open.map(({ request }) => request.runId));
      known = new Map([...fresh].filter(([, file]) => file.runId === null || !runs.has(file.runId)));
    }
  };
  /** Inserts unknown files and writes their events; false if some existed already. */
  const insertUnknown = async (
    owner: Tenant & { customerId: string },
    fresh: readonly FileRequest[],
    now: Date,
    inTurn: ReadonlySet<FileRequest>,
  ): Promise<boolean> => {
    if (fresh.length === 0) return true;
    const first = await sequence.take('file', fresh.length);
    const rows = fresh.map((request, index) => newFile(first + index, owner, request, now, inTurn.has(request)));
    let all = true;
    await intents.withPendingEvents(transitionEvents('create', rows, {}), async (mark) => {
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
      const named = key(owner, request);
      const known = await readRow<FileDoc, KnownFile>(files, named, { fields: KNOWN_FIELDS, session });
      if (known) {
        await ledger.handOver([known], request.runId, session);
        const { filter, update } = accepted(owner, request, known, { now, inTurn });
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
    async acceptMany(owner, given) {
      const requests = await withoutDeleted(deleted, given);
      if (requests.length < given.length) {
        const taken = new Set(requests);
        const left = given.filter((request) => !taken.has(request));
        await leave(owner, left, 'deleted_by_caller');
      }
      const [one] = requests;
      if (!one) return 0;
      const inTurn = new Set(requests.slice(0, await queue.room(owner, one.runId, requests.length)));
      const now = new Date();
      const known = await knownOf(owner, requests);
      const unknown = requests.filter((request) => !known.has(nameOfRequest(request)));
      if (!(await insertUnknown(owner, unknown, now, inTurn))) {
        // Another request was quicker with some: they are known now.
        for (const [name, file] of await knownOf(owner, unknown)) known.set(name, file);
      }
      const looked = requests.filter(({ isPass }) => isPass === true);
      const asked = requests.filter(({ isPass }) => isPass !== true);
      await queueKnown(owner, asked, known, now, inTurn);
      const met = looked.flatMap((request) => {
        const file = known.get(nameOfRequest(request));
        return file && isAlike(request, file) ? [{ request, file, inTurn: inTurn.has(request) }] : [];
      });
      await takeFrom(met);
      await passKnown(files, owner, met, now);
      const others = requests.filter((request) => !isAlike(request, known.get(nameOfRequest(request))));
      if (others.length > 0) await leave(owner, others, 'is_container');
      return requests.length - others.length;
    },
  };
}

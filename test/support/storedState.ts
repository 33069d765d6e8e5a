/**
 * Reads all data that a service has stored, directly from the stores. Tests compare the data of an interrupted and an
 * uninterrupted run.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { QdrantClient } from '@qdrant/js-client-rest';
import type mongoose from 'mongoose';

import { FINAL_FILE_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import type { SegmentDoc } from '../../store/models/chunks.js';
import type { AttemptDoc } from '../../store/models/connections.js';
import type { ContentDoc } from '../../store/models/contents.js';
import type { OriginalDoc } from '../../store/models/originals.js';
import type { QuarantinedDoc } from '../../store/models/quarantine.js';
import type { FileDoc } from '../../store/models/files.js';
import type { EventRowDoc } from '../../store/models/events.js';
import { readPointFile } from '../../store/coldStorage/pointFile.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { UserDoc } from '../../store/models/users.js';
import { TIME_LIMIT_MS } from './waitFor.js';
import { type EventNote, findEventInconsistencies } from './eventConsistency.js';
import { connectMongo } from './mongo.js';

/** The results of a customer's syncs, without ids, generations and times. */
interface Content {
  readonly files: unknown[];
  /** Segments of text with their chunks. */
  readonly segments: unknown[];
  readonly points: unknown[];
  /** Fetched contents, by hash. */
  readonly contents: unknown[];
}

export interface StoredState {
  content(customerId: string): Content;
  /**
   * Returns inconsistencies: records in a non-final state; missing or duplicate events; chunks, points and contents
   * without a record; wrong counts.
   */
  findInconsistencies(customerId?: string): string[];
}

interface Point {
  readonly payload: {
    organization_id: string;
    user_id: number;
    file_id: number;
    generation: number;
    chunk_index: number;
    parent_id: number;
    ancestors: number[];
  };
  readonly vector: Readonly<Record<string, unknown>>;
}

/**
 * Returns a name of a file that is the same in each trial. The external id of an upload begins with a random number, so
 * uploads are named by their file name.
 */
const placeOf = ({ externalFileId, name }: { externalFileId: string; name: string | null }): string =>
  externalFileId.replace(/^[0-9a-f]{32}(?=\/|$)/, `upload ${name}`);

const FILE_FIELDS = [
  'source',
  'externalUrl',
  'name',
  'isContainer',
  'syncStatus',
  'syncErrorMessage',
  'tags',
  'tagPairs',
  'options',
  'sourceOptions',
  'fileMetadata',
  'numChunks',
  'statistics',
  'vectorSpace',
  'dimensions',
  'rawHash',
  'etag',
  'lastModified',
  'attempts',
  'unfinishedStarts',
  'notBefore',
  'supportsColdStorage',
  'hotStorageTimeToLive',
  'embeddingStorageStatus',
] as const satisfies readonly (keyof FileDoc)[];

/** Returns all points of a service, with payloads and vectors. */
export async function readPoints(env: NodeJS.ProcessEnv): Promise<Point[]> {
  const client = new QdrantClient({ url: env['QDRANT_URL'] ?? '', checkCompatibility: false });
  const { collections } = await client.getCollections();
  const points: Point[] = [];
  for (const { name } of collections) {
    if (!name.startsWith(env['QDRANT_COLLECTION_PREFIX'] ?? 'allotrope-')) continue;
    let offset: string | number | undefined;
    do {
      const page = await client.scroll(name, {
        limit: 1000,
        with_payload: true,
        with_vector: true,
        ...(offset === undefined ? {} : { offset }),
      });
      points.push(...(page.points as unknown as Point[]));
      offset = (page.next_page_offset ?? undefined) as string | number | undefined;
    } while (offset !== undefined);
  }
  return points;
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The folder of uploaded originals; its file names are the ids of their records. */
const ORIGINALS = 'originals';

/** The suffix of vector copies in file storage. */
const VECTORS = '.vectors';

async function readCopy(file: string): Promise<Point[]> {
  const points: Point[] = [];
  for await (const batch of readPointFile(createReadStream(file)))
    for (const { dense, sparse, payload } of batch)
      points.push({
        payload: payload as unknown as Point['payload'],
        vector: {
          dense: Array.from(dense),
          ...(sparse && { sparse: { indices: [...sparse.indices], values: [...sparse.values] } }),
        },
      });
  return points;
}

/** Reads the vector copies in file storage. @returns the points of each copy, by the key in the file's record */
async function readCopies(root: string, paths: readonly string[]): Promise<Map<string, Point[]>> {
  const copies = await Promise.all(
    paths.map(async (file) => {
      // A copy that was truncated by a kill, or is being written or deleted, counts as empty.
      const points = await readCopy(file).catch(() => []);
      return [path.relative(root, file), points] as const;
    }),
  );
  return new Map(copies);
}

/**
 * Returns inconsistencies in vector storage: each file's vectors must be in exactly the place that its record names,
 * with no move in progress.
 */
function findCopyInconsistencies(
  copies: ReadonlyMap<string, readonly Point[]>,
  files: readonly FileDoc[],
): EventNote[] {
  const filesByKey = new Map(files.flatMap((file) => (file.coldCopy ? [[file.coldCopy.key, file] as const] : [])));
  const orphaned = [...copies.keys()].filter((key) => !filesByKey.has(key));
  return [
    ...orphaned.map((key) => ({ customerId: '', what: `vectors ${key} in file storage belong to no file` })),
    ...files.flatMap((file) => {
      const { customerId, embeddingStorageStatus: status, coldCopy, move, numChunks, generation } = file;
      const isCold = status === 'COLD_STORAGE';
      const points = copies.get(coldCopy?.key ?? '');
      const notes = [
        ...(isCold || status === 'HOT_STORAGE' ? [] : [`is ${status}`]),
        ...(move ? [`is still being moved by run ${move.runId}`] : []),
        ...(isCold !== Boolean(coldCopy) ? [`is ${status} and names ${coldCopy ? 'a' : 'no'} copy`] : []),
        ...(isCold && points?.length !== numChunks
          ? [`has ${points?.length ?? 'no'} of ${numChunks} vectors stored`]
          : []),
        ...(isCold && coldCopy?.generation !== generation ? ['has vectors of other content stored'] : []),
      ];
      return notes.map((what) => ({ customerId, what: `${placeOf(file)} ${what}` }));
    }),
  ];
}

async function blobsIn(root: string) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const isOriginal = ({ parentPath }: (typeof files)[number]): boolean => path.basename(parentPath) === ORIGINALS;
  const isCopy = ({ name }: (typeof files)[number]): boolean => name.endsWith(VECTORS);
  return {
    contents: files.filter((file) => !isOriginal(file) && !isCopy(file)),
    copies: files.filter(isCopy).map(({ name, parentPath }) => path.join(parentPath, name)),
    originals: files.filter(isOriginal).map(({ name }) => Number(name)),
  };
}

/** Returns originals that belong to no file, and files whose original is missing. */
function findOriginalInconsistencies(
  rows: readonly OriginalDoc[],
  blobs: readonly number[],
  files: readonly FileDoc[],
): string[] {
  const byId = new Map(rows.map((row) => [row._id, row]));
  const fileOfOriginal = new Map(
    files.flatMap((file) =>
      [file.original, file.callerChunks].flatMap((original) => (original ? [[original.id, file._id] as const] : [])),
    ),
  );
  return [
    ...rows.flatMap(({ _id, fileId }) =>
      fileId === null || fileOfOriginal.get(_id) !== fileId ? [`original ${_id}`] : [],
    ),
    ...blobs.flatMap((id) => (byId.get(id)?.bytes === null ? [] : [`stored original ${id}`])),
  ]
    .map((what) => `${what} belongs to no file`)
    .concat(
      [...fileOfOriginal].flatMap(([id, fileId]) => {
        const row = byId.get(id);
        const isKept = row?.fileId === fileId && (row.bytes !== null || blobs.includes(id));
        return isKept ? [] : [`file ${fileId} has no stored original ${id}`];
      }),
    );
}

/** Returns the hashes of all contents in file storage, by `file:generation`. */
async function readBlobs(
  files: Awaited<ReturnType<typeof blobsIn>>['contents'],
): Promise<(readonly [string, string])[]> {
  return Promise.all(
    files.map(async ({ name, parentPath }) => {
      const key = `${path.basename(parentPath)}:${Number.parseInt(name, 10)}`;
      return [key, hashOf(await readFile(path.join(parentPath, name)))] as const;
    }),
  );
}

/** Returns the ids of runs that wait for a person's consent. That can take minutes, so checks ignore these runs. */
async function waitingRuns(connection: mongoose.Connection): Promise<number[]> {
  const waiting = connection
    .collection<AttemptDoc>('connection_attempts')
    .find({ state: 'waiting' }, { projection: { _id: 1 } });
  return (await waiting.toArray()).map(({ _id }) => _id);
}

/**
 * Waits until all runs have ended, which happens shortly after their last file. A run that does not end is reported as
 * an inconsistency.
 */
async function waitForRuns(connection: mongoose.Connection, waiting: number[]): Promise<void> {
  const deadline = Date.now() + TIME_LIMIT_MS;
  const open = { finishedAt: null, _id: { $nin: waiting } };
  while (Date.now() < deadline && (await connection.collection<RunDoc>('runs').countDocuments(open)) > 0)
    await sleep(50);
}

async function readDatabase(env: NodeJS.ProcessEnv) {
  const connection = await connectMongo(env['MONGODB_URI'] ?? '');
  try {
    const waiting = await waitingRuns(connection);
    await waitForRuns(connection, waiting);
    const readAll = <T extends object>(name: string) => connection.collection<T>(name).find().toArray() as Promise<T[]>;
    const [files, quarantined, segments, rows, runs, users, events, originals] = await Promise.all([
      readAll<FileDoc>('files'),
      readAll<QuarantinedDoc>('quarantined_files'),
      readAll<SegmentDoc>('segments'),
      readAll<Omit<ContentDoc, 'bytes'> & { bytes: mongoose.mongo.Binary }>('contents'),
      readAll<RunDoc>('runs'),
      readAll<UserDoc>('users'),
      readAll<EventRowDoc>('events'),
      readAll<OriginalDoc>('originals'),
    ]);
    const contents = rows.map((row) => [`${row.fileId}:${row.generation}`, hashOf(row.bytes.value())] as const);
    const settled = runs.filter(({ _id }) => !waiting.includes(_id));
    return { files, quarantined, segments, contents, runs: settled, users, events, originals };
  } finally {
    await connection.close();
  }
}

/** Returns the record of a quarantined file as it would be after a restore, with vectors where they are stored now. */
const keptRecord = ({ file, copy }: QuarantinedDoc): FileDoc => ({
  ...file,
  syncStatus: 'READY',
  embeddingStorageStatus: copy ? 'COLD_STORAGE' : 'HOT_STORAGE',
  coldCopy: copy,
  move: null,
});

const byText = <T>(rows: readonly T[], key: (row: T) => string): T[] =>
  rows.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));

function tally(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/**
 * Reads all stored data of a service.
 * @param env the settings of the service: MONGODB_URI, QDRANT_URL, QDRANT_COLLECTION_PREFIX, DATA_DIR
 */
export async function readStoredState(env: NodeJS.ProcessEnv): Promise<StoredState> {
  const root = path.join(env['DATA_DIR'] ?? '', 'files');
  // Read the database first: readDatabase waits for the runs to end, and until then they also change the other stores.
  const {
    files: visibleFiles,
    quarantined,
    segments,
    contents: rows,
    runs,
    users,
    events,
    originals,
  } = await readDatabase(env);
  const stored = await blobsIn(root);
  const [points, blobs, copies] = await Promise.all([
    readPoints(env),
    readBlobs(stored.contents),
    readCopies(root, stored.copies),
  ]);
  // Quarantined files keep all their data, with the vectors in file storage.
  const files = [...visibleFiles, ...quarantined.map(keptRecord)];
  const contents = new Map([...rows, ...blobs]);
  const byId = new Map(files.map((file) => [file._id, file]));
  const customers = new Map(users.map((user) => [user._id, user.customerId]));
  const nameOfFile = (fileId: number): string => {
    const file = byId.get(fileId);
    return file ? placeOf(file) : `deleted file ${fileId}`;
  };
  const notes: { customerId: string | undefined; what: string }[] = [
    ...findEventInconsistencies(events, visibleFiles, runs),
    ...quarantined.flatMap(({ _id, customerId, state }) =>
      state === 'kept' ? [] : [{ customerId, what: `quarantined file ${_id} is ${state}` }],
    ),
    ...findCopyInconsistencies(copies, files),
  ];

  const isCurrent = (fileId: number, generation: number): boolean => byId.get(fileId)?.generation === generation;
  for (const what of findOriginalInconsistencies(originals, stored.originals, files))
    notes.push({ customerId: undefined, what });
  for (const { _id, kind, customerId, finishedAt } of runs)
    if (finishedAt === null) notes.push({ customerId, what: `run ${_id} (${kind}) has not ended` });
  for (const { _id, fileId, generation, userId } of segments)
    if (!isCurrent(fileId, generation))
      notes.push({
        customerId: customers.get(userId),
        what: `segment ${_id} of ${nameOfFile(fileId)} belongs to no file`,
      });
  for (const { payload } of points)
    if (!isCurrent(payload.file_id, payload.generation))
      notes.push({
        customerId: customers.get(payload.user_id),
        what: `point ${payload.file_id}:${payload.generation}:${payload.chunk_index} of ${nameOfFile(payload.file_id)} belongs to no file`,
      });
  for (const key of contents.keys()) {
    const [fileId = 0, generation = 0] = key.split(':').map(Number);
    if (!isCurrent(fileId, generation))
      notes.push({
        customerId: byId.get(fileId)?.customerId,
        what: `content ${key} of ${nameOfFile(fileId)} belongs to no file`,
      });
  }

  const chunksOf = tally(segments.flatMap((row) => row.cuts.map(() => `${row.fileId}:${row.generation}`)));
  const pointsOf = tally(points.map(({ payload }) => `${payload.file_id}:${payload.generation}`));
  for (const file of files) {
    const { customerId, syncStatus, numChunks, vectorSpace } = file;
    const note = (what: string) => notes.push({ customerId, what: `${placeOf(file)} ${what}` });
    if (!(FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(syncStatus)) note(`is ${syncStatus}`);
    if (file.cleanupPending) note('has a pending cleanup');
    const key = `${file._id}:${file.generation}`;
    if (file.hasContent !== contents.has(key)) note(`${file.hasContent ? 'has no stored' : 'should have no'} content`);
    const [chunks, vectors] = [chunksOf.get(key) ?? 0, pointsOf.get(key) ?? 0];
    if (chunks !== numChunks) note(`records ${numChunks} chunks but has ${chunks}`);
    if (vectors !== (vectorSpace === null || file.embeddingStorageStatus === 'COLD_STORAGE' ? 0 : numChunks))
      note(`records ${numChunks} chunks but has ${vectors} points`);
    const { pages_total, pages_ready, pages_failed, pages_aborted } = file.fileMetadata as Record<string, number>;
    if (pages_ready !== undefined && pages_total !== pages_ready + (pages_failed ?? 0) + (pages_aborted ?? 0))
      note(`has page counts that do not add up: ${JSON.stringify(file.fileMetadata)}`);
  }

  return {
    findInconsistencies: (customerId) =>
      notes.filter((note) => customerId === undefined || note.customerId === customerId).map(({ what }) => what),
    content(customerId) {
      const ownFiles = byText(
        visibleFiles.filter((file) => file.customerId === customerId),
        placeOf,
      );
      const ids = new Set(ownFiles.map((file) => file._id));
      return {
        files: ownFiles.map((file) => ({
          place: placeOf(file),
          ...Object.fromEntries(FILE_FIELDS.map((field) => [field, file[field]])),
          parent: file.parentId === null ? null : nameOfFile(file.parentId),
        })),
        segments: byText(
          segments
            .filter((row) => ids.has(row.fileId))
            .map(({ fileId, first, last, offset, text, prefix, cuts }) => {
              return { page: nameOfFile(fileId), first, last, offset, text, prefix, cuts };
            }),
          ({ page, first }) => `${page} ${String(first).padStart(6, '0')}`,
        ),
        points: byText(
          // In Qdrant or in file storage.
          [...points, ...[...copies.values()].flat()]
            .filter(({ payload }) => ids.has(payload.file_id))
            .map(
              ({
                payload: {
                  organization_id: _organization,
                  user_id: _user,
                  file_id,
                  generation: _generation,
                  parent_id,
                  ancestors,
                  ...payload
                },
                vector,
              }) => {
                return {
                  page: nameOfFile(file_id),
                  parent: nameOfFile(parent_id),
                  above: ancestors.map(nameOfFile),
                  ...payload,
                  vector,
                };
              },
            ),
          ({ page, chunk_index }) => `${page} ${String(chunk_index).padStart(6, '0')}`,
        ),
        contents: ownFiles.map((file) => ({
          page: placeOf(file),
          hash: contents.get(`${file._id}:${file.generation}`) ?? null,
        })),
      };
    },
  };
}

/** Clears the vector cache, so that the next sync embeds all texts. */
export async function clearVectorCache(env: NodeJS.ProcessEnv): Promise<void> {
  const connection = await connectMongo(env['MONGODB_URI'] ?? '');
  await connection.collection('vector_cache').deleteMany({});
  await connection.close();
}

import { type FileSyncStatus, FINAL_FILE_STATUSES } from '../../contract/files/statuses.js';
import type { FileDoc } from '../models/files.js';
import type { openModels } from '../models/openModels.js';
import type { QuarantinedDoc } from '../models/quarantine.js';
import type { Tenant } from '../users/accept.js';
import type { IdRange } from '../vectors/census.js';

export type Models = Awaited<ReturnType<typeof openModels>>;

const FILE_FIELDS = [
  'customerId',
  'dataSourceId',
  'source',
  'externalFileId',
  'name',
  'isContainer',
  'syncStatus',
  'syncErrorMessage',
  'fileMetadata',
  'options',
  'runId',
  'generation',
  'lastGeneration',
  'numChunks',
  'vectorSpace',
  'dimensions',
  'hasText',
  'hasContent',
  'embeddingStorageStatus',
  'coldCopy',
  'move',
  'original',
  'callerChunks',
  'cleanupPending',
  'tagPairs',
  'tagsRevision',
  'updatedAt',
] as const satisfies readonly (keyof FileDoc)[];

/** The fields of a file's record that determine its stored data. */
export type RecordOfFile = Pick<FileDoc, '_id' | 'organizationId' | 'userId' | (typeof FILE_FIELDS)[number]> & {
  /** Whether the file is in quarantine. */
  readonly isQuarantined?: boolean;
};

const PROJECTION = Object.fromEntries(['organizationId', 'userId', ...FILE_FIELDS].map((field) => [field, 1]));

/** Returns the record of a quarantined file, whose vectors are in file storage. */
function quarantinedRecord({ file, copy, state, runId }: QuarantinedDoc): RecordOfFile {
  return {
    ...file,
    // An unfinished file becomes READY when it is restored.
    syncStatus: isSettled(file) ? file.syncStatus : 'READY',
    embeddingStorageStatus: 'COLD_STORAGE',
    coldCopy: copy,
    move: state === 'kept' ? null : { runId, token: null },
    isQuarantined: true,
  };
}
/** Excludes rows whose file is already restored. */
const NOT_RESTORED = { state: { $ne: 'tidying' as const } };

/** Reads the records of a user's files after an id, ordered by id, including quarantined files. */
export async function recordsAbove(
  { files, quarantined }: Pick<Models, 'files' | 'quarantined'>,
  { organizationId, userId }: Tenant,
  above: number,
  limit: number,
): Promise<RecordOfFile[]> {
  const query = { organizationId, userId, _id: { $gt: above } };
  const [fileRecords, quarantinedRows] = await Promise.all([
    files.find(query, PROJECTION).sort({ _id: 1 }).limit(limit).lean<RecordOfFile[]>(),
    quarantined
      .find({ ...query, ...NOT_RESTORED })
      .sort({ _id: 1 })
      .limit(limit)
      .lean(),
  ]);
  return [...fileRecords, ...quarantinedRows.map(quarantinedRecord)].toSorted((a, b) => a._id - b._id).slice(0, limit);
}

/** Reads the records of files by id, including quarantined files. */
export async function recordsOf(
  { files, quarantined }: Pick<Models, 'files' | 'quarantined'>,
  owner: Partial<Tenant>,
  ids: readonly number[],
): Promise<Map<number, RecordOfFile>> {
  const query = { ...owner, _id: { $in: [...ids] } };
  // Read the quarantine first: a file that is restored meanwhile is then in both results. A file that is quarantined
  // meanwhile is in neither result, and counts as changed.
  const quarantinedRows = await quarantined.find({ ...query, ...NOT_RESTORED }).lean();
  const rows = await files.find(query, PROJECTION).lean<RecordOfFile[]>();
  return new Map([...quarantinedRows.map(quarantinedRecord), ...rows].map((row) => [row._id, row]));
}

/** Returns the range of ids that the records span. */
export const rangeOf = (above: number, records: readonly RecordOfFile[], limit: number): IdRange => ({
  above,
  upTo: records.length < limit ? null : (records.at(-1)?._id ?? null),
});

/** The active runs. */
export interface LiveRuns {
  /** Returns whether a run processes the file, or may process it. */
  owns(file: Pick<RecordOfFile, '_id' | 'runId' | 'move'>): boolean;
  /** Returns whether a run changes the tags of the file's data source. */
  retags(file: Pick<RecordOfFile, 'dataSourceId'>): boolean;
}

/** Reads the active runs of a user. */
export async function liveRuns(
  { runs, reembeds }: Pick<Models, 'runs' | 'reembeds'>,
  { organizationId, userId }: Tenant,
): Promise<LiveRuns> {
  const activeRuns = await runs
    .find({ finishedAt: null, organizationId, userId }, { kind: 1, fileId: 1, dataSourceId: 1 })
    // This index contains only active runs.
    .hint({ startedAt: 1 })
    .lean();
  const reembedding = activeRuns.flatMap(({ _id, kind }) => (kind === 'reembedFiles' ? [_id] : []));
  const begun =
    reembedding.length === 0
      ? []
      : await reembeds.find({ runId: { $in: reembedding }, outcome: null }, { fileId: 1 }).lean();
  const ids = new Set(activeRuns.map(({ _id }) => _id));
  const files = new Set([...activeRuns.flatMap(({ fileId }) => fileId ?? []), ...begun.map(({ fileId }) => fileId)]);
  const sources = new Set(
    activeRuns.flatMap(({ kind, dataSourceId }) => (kind === 'updateTags' && dataSourceId) || []),
  );
  const isUserDeleted = activeRuns.some(({ kind }) => kind === 'deleteUser');
  return {
    owns: ({ _id, runId, move }) =>
      isUserDeleted || files.has(_id) || Boolean(move) || (runId !== null && ids.has(runId)),
    retags: ({ dataSourceId }) => dataSourceId !== null && sources.has(dataSourceId),
  };
}

export const isSettled = ({ syncStatus }: Pick<RecordOfFile, 'syncStatus'>): boolean =>
  (FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(syncStatus);

/** Returns whether no run or request has changed the file between two reads of its record. */
export const isSame = (before: RecordOfFile, after: RecordOfFile | undefined): boolean =>
  after !== undefined &&
  before.updatedAt.getTime() === after.updatedAt.getTime() &&
  (
    ['syncStatus', 'runId', 'generation', 'lastGeneration', 'numChunks', 'vectorSpace', 'cleanupPending'] as const
  ).every((field) => before[field] === after[field]) &&
  (before.tagsRevision ?? null) === (after.tagsRevision ?? null) &&
  before.coldCopy?.key === after.coldCopy?.key &&
  before.move?.runId === after.move?.runId &&
  before.isQuarantined === after.isQuarantined;

import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';

import { fileTags, tagPairs } from '../../contract/files/tags.js';
import type { QuarantinedDoc } from '../../store/models/quarantine.js';
import type { ColdCopy, FileDoc } from '../../store/models/files.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { writtenPoints } from '../generations/points.js';
import { copySourceTags } from '../generations/pointTags.js';
import { eraseContents } from '../generations/eraseContents.js';

const EVERY_GENERATION = { below: Number.MAX_SAFE_INTEGER };
/** Files whose vectors are moved in parallel. */
const FILES_AT_ONCE = 4;

type QuarantineDeps = Pick<ActivityDeps, 'store' | 'log' | 'isBrokenCopy'>;
type Rows = readonly QuarantinedDoc[];

const hasVectors = ({ file }: QuarantinedDoc): boolean => file.vectorSpace !== null && file.numChunks > 0;
const pointsOf = ({ file: { _id: fileId, generation, vectorSpace, dimensions } }: QuarantinedDoc) => ({
  fileId,
  generation,
  space: { name: vectorSpace ?? '', dimensions: dimensions ?? 0 },
});
const tenantOf = ({ organizationId, userId }: RunDoc) => ({ organizationId, userId });
const forEachRow = async (
  rows: Rows,
  signal: AbortSignal,
  work: (row: QuarantinedDoc) => Promise<void>,
): Promise<void> => {
  const limit = pLimit(FILES_AT_ONCE);
  const results = await Promise.allSettled(
    rows.map((row) =>
      limit(() => {
        signal.throwIfAborted();
        return work(row);
      }),
    ),
  );
  const rejected = results.find((end) => end.status === 'rejected');
  if (rejected) throw rejected.reason;
};

/**
 * Returns the copy of a file's vectors in file storage; writes it if there is none. Null if the file has no vectors, or
 * if some were not found.
 */
async function ensureCopy(row: QuarantinedDoc, { store, log }: QuarantineDeps): Promise<ColdCopy | null> {
  if (!hasVectors(row)) return null;
  const { _id: fileId, organizationId, file } = row;
  const { coldCopy, generation, numChunks: points, dimensions } = file;
  // A file that was moving from cold storage still has its copy; a file that was moving there still has its points.
  const isStored = file.embeddingStorageStatus === 'COLD_STORAGE' || file.embeddingStorageStatus === 'COLD_TO_HOT';
  if (row.copy) return row.copy;
  const stored = isStored && coldCopy?.generation === generation ? coldCopy : null;
  const owner = { organizationId, fileId, generation };
  const saved =
    stored ??
    (await store.coldCopies.save(
      owner,
      randomUUID().slice(0, 8),
      { dimensions: dimensions ?? 0, points },
      store.vectors.readPoints(pointsOf(row), points),
    ));
  const copy = await store.quarantine.saveCopy(row, saved);
  if (!copy) log.warn({ organizationId, fileId }, 'not all vectors of a file that goes into quarantine were found');
  return copy;
}

/** Moves the vectors of files to file storage and deletes their points; then the files are `kept`. Safe to repeat. */
async function moveToFileStorage(run: RunDoc, rows: Rows, deps: QuarantineDeps, signal: AbortSignal): Promise<void> {
  const { store } = deps;
  const copies = new Map<number, ColdCopy | null>();
  await forEachRow(rows, signal, async (row) => void copies.set(row._id, await ensureCopy(row, deps)));
  signal.throwIfAborted();
  // Another run may own some of the files by now, and have advanced them to the next step.
  const unchangedRows = await store.quarantine.filterUnchanged(rows);
  const tenant = tenantOf(run);
  const ids = unchangedRows.map(({ _id }) => _id);
  await store.vectors.deletePoints(unchangedRows.flatMap(({ file }) => writtenPoints(file)));
  // An unfinished sync may have written points that the record does not state: delete all points of these files.
  if (ids.length > 0 && (await store.vectors.countOf(tenant, ids)) > 0)
    await store.vectors.deleteGenerations(ids.map((fileId) => ({ ...tenant, fileId, generations: EVERY_GENERATION })));
  const { organizationId } = tenant;
  await Promise.all(
    ids.map((fileId) => store.coldCopies.deleteOthers({ organizationId, fileId }, copies.get(fileId)?.key ?? null)),
  );
  await store.quarantine.markKept(unchangedRows);
}

/** Returns the records with the current tags of their data sources. */
async function withCurrentTags(run: RunDoc, rows: Rows, { store }: QuarantineDeps): Promise<QuarantinedDoc[]> {
  const ids = [...new Set(rows.flatMap(({ file }) => file.dataSourceId ?? []))];
  const found = await Promise.all(ids.map((id) => store.dataSources.find(run, id)));
  const sources = new Map(found.flatMap((source) => (source ? [[source._id, source] as const] : [])));
  return rows.map((row) => {
    const { file } = row;
    const source = sources.get(file.dataSourceId ?? 0);
    if (!source || source.tagsVersion === file.sourceTagsVersion) return row;
    const tagged = { ...file, sourceTags: source.tags, sourceTagsVersion: source.tagsVersion };
    const tagsRevision = (file.tagsRevision ?? 0) + 1;
    return { ...row, file: { ...tagged, tagPairs: tagPairs(fileTags(tagged)), tagsRevision } };
  });
}

/**
 * Restores files: their points first, then their records. A file stays in quarantine if another file now has its
 * external id. Safe to repeat.
 */
async function restoreFiles(run: RunDoc, rows: Rows, deps: QuarantineDeps, signal: AbortSignal): Promise<void> {
  const { store, log, isBrokenCopy } = deps;
  const { organizationId } = run;
  const replaced = await store.quarantine.findReplaced(rows);
  const replacedRows = rows.filter(({ _id }) => replaced.has(_id));
  // An earlier attempt may have written the points.
  await store.vectors.deletePoints(replacedRows.flatMap(({ file }) => writtenPoints(file)));
  await store.quarantine.cancelRestore(replacedRows);
  const restorable = await withCurrentTags(
    run,
    rows.filter(({ _id }) => !replaced.has(_id)),
    deps,
  );
  const hasVectorsById = new Map<number, boolean>();
  await forEachRow(restorable, signal, async (row) => {
    const { _id: fileId, copy, file } = row;
    const isCold = file.embeddingStorageStatus === 'COLD_STORAGE';
    try {
      if (copy && !isCold)
        for await (const points of store.coldCopies.read(copy))
          await store.vectors.writePoints(pointsOf(row), points, { tags: file.tagPairs });
      hasVectorsById.set(fileId, copy !== null || !hasVectors(row));
    } catch (error) {
      if (!isBrokenCopy(error)) throw error;
      log.error({ runId: run._id, organizationId, fileId, err: error }, 'the stored vectors of a file are lost');
      hasVectorsById.set(fileId, false);
    }
  });
  signal.throwIfAborted();
  await store.quarantine.restore(
    run,
    restorable.map((row) => ({ row, isWhole: hasVectorsById.get(row._id) ?? false })),
  );
}

/**
 * Copies tags that changed while the files were restored: the run that copies them may have ended before the files had
 * a record again.
 */
async function copyChangedTags(run: RunDoc, files: readonly FileDoc[], { store }: QuarantineDeps): Promise<void> {
  for (const id of new Set(files.flatMap(({ dataSourceId }) => dataSourceId ?? []))) {
    const source = await store.dataSources.find(run, id);
    if (!source) continue;
    const outdated = files.filter((file) => file.dataSourceId === id && file.sourceTagsVersion !== source.tagsVersion);
    if (outdated.length > 0) await copySourceTags(store, source, outdated);
  }
}

/**
 * Copies changed tags to restored files, and deletes the stored copies that their records do not reference. Safe to
 * repeat.
 */
async function tidy(run: RunDoc, rows: Rows, deps: QuarantineDeps): Promise<void> {
  const { store } = deps;
  const { organizationId } = run;
  const files = await store.files.byIds(
    run,
    rows.map(({ _id }) => _id),
  );
  await copyChangedTags(run, files, deps);
  // A file that was deleted meanwhile has no data left.
  await Promise.all(
    files.map(({ _id: fileId, coldCopy }) =>
      store.coldCopies.deleteOthers({ organizationId, fileId }, coldCopy?.key ?? null),
    ),
  );
  await store.quarantine.deleteRows(rows);
}

/** Deletes files permanently, and verifies the deletion. Safe to repeat. */
async function erase(run: RunDoc, rows: Rows, { store }: QuarantineDeps): Promise<void> {
  const files = rows.map(({ file }) => file);
  const ids = rows.map(({ _id }) => _id);
  await eraseContents(store, tenantOf(run), files, ids);
  await store.quarantine.deleteRows(rows);
}

const STEPS = { leaving: moveToFileStorage, returning: restoreFiles, tidying: tidy, erasing: erase } as const;

/** Advances at most `limit` quarantined files of a run by one step; returns their number. Safe to repeat. */
export async function advanceQuarantine(
  run: RunDoc,
  limit: number,
  deps: QuarantineDeps,
  signal: AbortSignal,
): Promise<number> {
  const rows = await deps.store.quarantine.listClaimed(run, limit);
  for (const state of ['leaving', 'returning', 'tidying', 'erasing'] as const) {
    const rowsInState = rows.filter((row) => row.state === state);
    if (rowsInState.length > 0) await STEPS[state](run, rowsInState, deps, signal);
  }
  return rows.length;
}

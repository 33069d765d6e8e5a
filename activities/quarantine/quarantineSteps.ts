import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';

import { fileTags, tagPairs } from '../../contract/tags.js';
import type { QuarantinedDoc } from '../../store/quarantine/model.js';
import type { ColdCopy } from '../../store/files/model.js';
import type { RunDoc } from '../../store/runs/model.js';
import type { ActivityDeps } from '../deps.js';
import { writtenPoints } from '../generations/points.js';
import { eraseContents } from '../generations/eraseContents.js';

const EVERY_GENERATION = { below: Number.MAX_SAFE_INTEGER };
/** Files whose vectors are on their way at once. */
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
const eachOf = async (rows: Rows, signal: AbortSignal, work: (row: QuarantinedDoc) => Promise<void>): Promise<void> => {
  const limit = pLimit(FILES_AT_ONCE);
  const ends = await Promise.allSettled(
    rows.map((row) =>
      limit(() => {
        signal.throwIfAborted();
        return work(row);
      }),
    ),
  );
  const broken = ends.find((end) => end.status === 'rejected');
  if (broken) throw broken.reason;
};

/** Returns the copy of a vanishing file's vectors in file storage, writing it if necessary; null: it has no vectors. */
async function keptCopy(row: QuarantinedDoc, { store, log }: QuarantineDeps): Promise<ColdCopy | null> {
  if (!hasVectors(row)) return null;
  const { _id: fileId, organizationId, file } = row;
  const { coldCopy, generation, numChunks: points, dimensions } = file;
  // Also of one that was on its way out of cold storage. One on its way there has all its points still.
  const isStored = file.embeddingStorageStatus === 'COLD_STORAGE' || file.embeddingStorageStatus === 'COLD_TO_HOT';
  if (row.copy) return row.copy;
  const stored = isStored && coldCopy?.generation === generation ? coldCopy : null;
  const owner = { organizationId, fileId, generation };
  const made =
    stored ??
    (await store.coldCopies.keep(
      owner,
      randomUUID().slice(0, 8),
      { dimensions: dimensions ?? 0, points },
      store.vectors.readPoints(pointsOf(row), points),
    ));
  const copy = await store.quarantine.noteCopy(row, made);
  if (!copy) log.warn({ organizationId, fileId }, 'not all vectors of a file that goes into quarantine were found');
  return copy;
}

/** Brings the vectors of files that leave into file storage, and takes their points away: then they are kept. Safe to repeat. */
async function putAside(run: RunDoc, rows: Rows, deps: QuarantineDeps, signal: AbortSignal): Promise<void> {
  const { store } = deps;
  const copies = new Map<number, ColdCopy | null>();
  await eachOf(rows, signal, async (row) => void copies.set(row._id, await keptCopy(row, deps)));
  signal.throwIfAborted();
  // Another run may own some of them already, and be at the next step.
  const ours = await store.quarantine.unmoved(rows);
  const tenant = tenantOf(run);
  const ids = ours.map(({ _id }) => _id);
  await store.vectors.deletePoints(ours.flatMap(({ file }) => writtenPoints(file)));
  // The points of an unfinished sync are unknown.
  if (ids.length > 0 && (await store.vectors.countOf(tenant, ids)) > 0)
    await store.vectors.deleteGenerations(ids.map((fileId) => ({ ...tenant, fileId, generations: EVERY_GENERATION })));
  const { organizationId } = tenant;
  await Promise.all(
    ids.map((fileId) => store.coldCopies.deleteOthers({ organizationId, fileId }, copies.get(fileId)?.key ?? null)),
  );
  await store.quarantine.kept(ours);
}

/** The records with the tags that their data sources have today. */
async function withTagsOfToday(run: RunDoc, rows: Rows, { store }: QuarantineDeps): Promise<QuarantinedDoc[]> {
  const ids = [...new Set(rows.flatMap(({ dataSourceId }) => dataSourceId ?? []))];
  const found = await Promise.all(ids.map((id) => store.dataSources.find(run, id)));
  const sources = new Map(found.flatMap((source) => (source ? [[source._id, source] as const] : [])));
  return rows.map((row) => {
    const { file } = row;
    const source = sources.get(row.dataSourceId ?? 0);
    if (!source || source.tagsVersion === file.sourceTagsVersion) return row;
    const tagged = { ...file, sourceTags: source.tags, sourceTagsVersion: source.tagsVersion };
    const tagsRevision = (file.tagsRevision ?? 0) + 1;
    return { ...row, file: { ...tagged, tagPairs: tagPairs(fileTags(tagged)), tagsRevision } };
  });
}

/** Has files back: their points first, then their records. Those whose name something else has by now stay. Safe to repeat. */
async function bringBack(run: RunDoc, rows: Rows, deps: QuarantineDeps, signal: AbortSignal): Promise<void> {
  const { store, log, isBrokenCopy } = deps;
  const { organizationId } = run;
  const replaced = await store.quarantine.replaced(rows);
  const staying = rows.filter(({ _id }) => replaced.has(_id));
  // An earlier try may have come as far.
  await store.vectors.deletePoints(staying.flatMap(({ file }) => writtenPoints(file)));
  await store.quarantine.stay(staying);
  const coming = await withTagsOfToday(
    run,
    rows.filter(({ _id }) => !replaced.has(_id)),
    deps,
  );
  const whole = new Map<number, boolean>();
  await eachOf(coming, signal, async (row) => {
    const { _id: fileId, copy, file } = row;
    const isCold = file.embeddingStorageStatus === 'COLD_STORAGE';
    try {
      if (copy && !isCold)
        for await (const points of store.coldCopies.read(copy))
          await store.vectors.writePoints(pointsOf(row), points, { tags: file.tagPairs });
      whole.set(fileId, copy !== null || !hasVectors(row));
    } catch (error) {
      if (!isBrokenCopy(error)) throw error;
      log.error({ runId: run._id, organizationId, fileId, err: error }, 'the stored vectors of a file are lost');
      whole.set(fileId, false);
    }
  });
  signal.throwIfAborted();
  await store.quarantine.giveBack(
    run,
    coming.map((row) => ({ row, isWhole: whole.get(row._id) ?? false })),
  );
}

/** Takes away what was stored for files that are back, as far as their records do not name it. Safe to repeat. */
async function tidy(run: RunDoc, rows: Rows, { store }: QuarantineDeps): Promise<void> {
  const { organizationId } = run;
  const files = await store.files.byIds(
    run,
    rows.map(({ _id }) => _id),
  );
  // Of one that was deleted since nothing is left.
  await Promise.all(
    files.map(({ _id: fileId, coldCopy }) =>
      store.coldCopies.deleteOthers({ organizationId, fileId }, coldCopy?.key ?? null),
    ),
  );
  await store.quarantine.forget(rows);
}

/** Erases files for good, verified. Safe to repeat. */
async function erase(run: RunDoc, rows: Rows, { store }: QuarantineDeps): Promise<void> {
  const files = rows.map(({ file }) => file);
  const ids = rows.map(({ _id }) => _id);
  await eraseContents(store, tenantOf(run), files, ids);
  await store.quarantine.forget(rows);
}

const STEPS = { leaving: putAside, returning: bringBack, tidying: tidy, erasing: erase } as const;

/** Takes some of the files in quarantine that are a run's one step on; answers how many there were. Safe to repeat. */
export async function advanceQuarantine(
  run: RunDoc,
  limit: number,
  deps: QuarantineDeps,
  signal: AbortSignal,
): Promise<number> {
  const rows = await deps.store.quarantine.claimed(run, limit);
  for (const state of ['leaving', 'returning', 'tidying', 'erasing'] as const) {
    const some = rows.filter((row) => row.state === state);
    if (some.length > 0) await STEPS[state](run, some, deps, signal);
  }
  return rows.length;
}

import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';

import type { Store } from '../../store/connect.js';
import type { MovedFile, MoveAttempt } from '../../store/coldStorage/moves.js';
import type { FileDoc } from '../../store/models/files.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { settlePointTags } from '../generations/pointTags.js';

/** Files whose vectors are moved in parallel. */
const FILES_AT_ONCE = 4;
/** Maximum number of retries of the switch to HOT_STORAGE after a tag change. Then the file stays in cold storage. */
const TAG_CHANGES = 5;
const LOST_MESSAGE =
  'The vectors of this file can no longer be read from file storage. Resync it to compute them again.';

type MoveDeps = Pick<ActivityDeps, 'store' | 'log' | 'isBrokenCopy'>;

/** Returns a new attempt of a run, with a token that invalidates earlier attempts. */
export const newAttempt = ({ _id: runId, organizationId, userId, requestId, workflowId }: RunDoc): MoveAttempt => ({
  organizationId,
  userId,
  runId,
  requestId,
  workflowId,
  token: randomUUID().slice(0, 8),
});

/** Returns the scope of a file's points. */
const pointsOf = ({ _id: fileId, generation, vectorSpace, dimensions }: FileDoc) => ({
  fileId,
  generation,
  space: { name: vectorSpace ?? '', dimensions: dimensions ?? 0 },
});

/** Writes a file's vectors to file storage and records their key. Returns false if they cannot be moved now. */
async function copyToCold(by: MoveAttempt, file: FileDoc, { store, log }: MoveDeps): Promise<boolean> {
  const { organizationId, _id: fileId, generation, numChunks, dimensions } = file;
  // The file is being synced or deleted, has failed, or has no vectors: it stays in Qdrant.
  if (file.syncStatus !== 'READY' || file.vectorSpace === null) return false;
  const points = store.vectors.readPoints(pointsOf(file), numChunks);
  const expected = { dimensions: dimensions ?? 0, points: numChunks };
  const copy = await store.coldCopies.save({ organizationId, fileId, generation }, by.token, expected, points);
  if (copy === null) {
    await store.moves.postponeMove(by, fileId);
    log.warn(
      { runId: by.runId, organizationId, fileId },
      'not all vectors of a file were found: it stays in hot storage',
    );
    return false;
  }
  return store.moves.saveCopy(by, file, copy);
}

/** Writes a file's points back, with the current tags and parents of the file. Returns false if the copy is lost. */
async function restorePoints(
  by: MoveAttempt,
  file: FileDoc,
  ancestors: readonly number[],
  { store, log, isBrokenCopy }: MoveDeps,
): Promise<boolean> {
  const { coldCopy, organizationId, _id: fileId } = file;
  try {
    if (!coldCopy || coldCopy.generation !== file.generation) throw new Error('a file in cold storage has no copy');
    const changed = { tags: file.tagPairs, parent_id: file.parentId, ancestors };
    for await (const points of store.coldCopies.read(coldCopy))
      await store.vectors.writePoints(pointsOf(file), points, changed);
    return true;
  } catch (error) {
    if (coldCopy && !isBrokenCopy(error)) throw error;
    await store.moves.markVectorsLost(by, fileId, LOST_MESSAGE);
    log.error({ runId: by.runId, organizationId, fileId, err: error }, 'the stored vectors of a file are lost');
    return false;
  }
}

/**
 * Switches files to HOT_STORAGE. If the tags of a file changed meanwhile, its points are updated first.
 * @returns the number of switched files
 */
async function switchToHot(store: Store, by: MoveAttempt, restored: readonly MovedFile[]): Promise<number> {
  let remaining = restored;
  let switched = 0;
  for (let change = 0; remaining.length > 0; change += 1) {
    const moved = new Set(await store.moves.markHot(by, remaining));
    switched += moved.size;
    remaining = remaining.filter(({ _id }) => !moved.has(_id));
    if (remaining.length === 0 || change === TAG_CHANGES) break;
    const settled = await settlePointTags(
      store,
      remaining.map(({ _id }) => _id),
    );
    const revisions = new Map(settled.map((file) => [file._id, file.tagsRevision]));
    // If the tags are unchanged, the switch failed for another reason: new content, or a delete.
    remaining = remaining.flatMap((file) => {
      const { tagsRevision, ...rest } = file;
      const revision = revisions.get(file._id);
      return revision === tagsRevision ? [] : [revision === undefined ? rest : { ...rest, tagsRevision: revision }];
    });
  }
  return switched;
}

/**
 * Moves the vectors of files in the direction that each record states: writes them to the target, then switches the
 * record. Leaves obsolete copies to `cleanUpMoves`.
 * @returns the claimed files, and the number of those whose record was switched
 */
export async function moveVectors(
  by: MoveAttempt,
  fileIds: readonly number[],
  deps: MoveDeps,
  signal: AbortSignal,
): Promise<{ readonly claimed: readonly FileDoc[]; readonly moved: number }> {
  const { store } = deps;
  const claimed = await store.moves.beginAttempt(by, fileIds);
  const limit = pLimit(FILES_AT_ONCE);
  const moveFiles = async (
    status: FileDoc['embeddingStorageStatus'],
    moveFile: (file: FileDoc) => Promise<boolean>,
  ): Promise<FileDoc[]> => {
    const files = claimed.filter((file) => file.embeddingStorageStatus === status);
    const results = await Promise.allSettled(
      files.map((file) =>
        limit(async () => {
          signal.throwIfAborted();
          return moveFile(file);
        }),
      ),
    );
    const rejected = results.find((result) => result.status === 'rejected');
    if (rejected) throw rejected.reason;
    signal.throwIfAborted();
    return files.filter((_file, index) => {
      const result = results[index];
      return result?.status === 'fulfilled' && result.value;
    });
  };
  const copied = await moveFiles('HOT_TO_COLD', (file) => copyToCold(by, file, deps));
  const cooled = await store.moves.markCold(by, copied);
  const ancestors = await store.files.ancestorsOf(claimed);
  const restored = await moveFiles('COLD_TO_HOT', (file) =>
    restorePoints(by, file, ancestors.get(file._id) ?? [], deps),
  );
  return { claimed, moved: cooled.length + (await switchToHot(store, by, restored)) };
}

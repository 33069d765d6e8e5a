import { BEING_DELETED } from '../../contract/runs/reembed.js';
import type { Store } from '../../store/connect.js';
import type { MoveAttempt } from '../../store/coldStorage/moves.js';
import type { FileDoc } from '../../store/models/files.js';
import type { GenerationScope } from '../../store/generations.js';

const EVERY_GENERATION = { below: Number.MAX_SAFE_INTEGER };

/** Returns the generations of a file whose points are obsolete, according to the file's record. */
function obsoleteGenerations(file: FileDoc): GenerationScope['generations'] {
  const { embeddingStorageStatus, generation } = file;
  // Higher generations may belong to an active sync.
  return { below: embeddingStorageStatus === 'HOT_STORAGE' ? generation : generation + 1 };
}

/**
 * Whether a run deletes the file. Such a run clears the token of the file's move, so that the move can no longer change
 * the record. The message is checked too, because the token is also null after another move has claimed the file.
 */
const isBeingDeleted = ({ move, syncErrorMessage }: FileDoc): boolean =>
  move?.token === null && syncErrorMessage === BEING_DELETED;

/**
 * Deletes obsolete copies after an attempt: points whose vectors are in file storage, and copies whose vectors are in
 * Qdrant. Then releases the files. Safe to repeat. @param claimed the files as the attempt read them. If the content of
 * a file has changed since, the data that the attempt wrote for the file is deleted
 */
export async function cleanUpMoves(
  store: Store,
  by: MoveAttempt,
  fileIds: readonly number[],
  claimed: readonly FileDoc[],
): Promise<void> {
  const { organizationId, userId } = by;
  const tenant = { organizationId, userId };
  await store.moves.revert(by, fileIds);
  const rows = new Map((await store.files.byIds(tenant, fileIds)).map((file) => [file._id, file]));
  const startGenerations = new Map(claimed.map((file) => [file._id, file.generation]));
  const isOfAttempt = ({ move }: FileDoc): boolean => move?.runId === by.runId && move.token === by.token;
  const points: GenerationScope[] = [];
  const contents: GenerationScope[] = [];
  const filesOfAttempt: FileDoc[] = [];
  const missingIds = fileIds.filter((id) => !rows.has(id));
  // A file without a record may be in quarantine, or may have been restored since the first query. Its data is kept.
  const quarantined =
    missingIds.length === 0 ? new Set<number>() : await store.quarantine.filterQuarantined(tenant, missingIds);
  const restored = new Set(
    missingIds.length === 0 ? [] : (await store.files.byIds(tenant, missingIds)).map(({ _id }) => _id),
  );
  for (const fileId of fileIds) {
    const file = rows.get(fileId);
    const generation = startGenerations.get(fileId);
    if (!file && (quarantined.has(fileId) || restored.has(fileId))) continue;
    if (!file) {
      // The file was deleted. This attempt may have written data after the delete checked that none remained.
      points.push({ ...tenant, fileId, generations: EVERY_GENERATION });
      contents.push({ ...tenant, fileId, generations: EVERY_GENERATION });
    } else if (isOfAttempt(file)) {
      filesOfAttempt.push(file);
      points.push({ ...tenant, fileId, generations: obsoleteGenerations(file) });
    } else if (generation !== undefined && (file.generation !== generation || isBeingDeleted(file))) {
      // The file has another generation, or is being deleted, so no record references these points.
      points.push({ ...tenant, fileId, generations: { exactly: generation } });
      contents.push({ ...tenant, fileId, generations: { exactly: generation } });
    }
  }
  await Promise.all([store.vectors.deleteGenerations(points), store.contents.deleteGenerations(contents)]);
  await Promise.all(
    filesOfAttempt.map(({ _id: fileId, embeddingStorageStatus, coldCopy }) =>
      store.coldCopies.deleteOthers(
        { organizationId, fileId },
        embeddingStorageStatus === 'HOT_STORAGE' ? null : (coldCopy?.key ?? null),
      ),
    ),
  );
  await store.moves.release(
    by,
    filesOfAttempt.map(({ _id }) => _id),
  );
}

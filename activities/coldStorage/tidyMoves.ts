import type { Store } from '../../store/connect.js';
import type { MoveTry } from '../../store/coldStorage/moves.js';
import type { FileDoc } from '../../store/files/model.js';
import type { GenerationScope } from '../../store/generations.js';

const EVERY_GENERATION = { below: Number.MAX_SAFE_INTEGER };

/** What is superfluous of a file of this try, whose record says where its vectors are. */
function superfluousPoints(file: FileDoc): GenerationScope['generations'] {
  const { embeddingStorageStatus, generation } = file;
  // Above may be those of a sync that is under way.
  return { below: embeddingStorageStatus === 'HOT_STORAGE' ? generation : generation + 1 };
}

/**
 * Brings the stores of files that a try has moved, or not, in line with their records: of vectors that lie in file storage
 * no point is left, of those in Qdrant no copy. Then the files are nobody's move. Safe to repeat.
 * @param worked the files as the try took them: what it has written of any other content is deleted
 */
export async function tidyMoves(
  store: Store,
  by: MoveTry,
  fileIds: readonly number[],
  worked: readonly FileDoc[],
): Promise<void> {
  const { organizationId, userId } = by;
  const tenant = { organizationId, userId };
  await store.moves.stepBack(by, fileIds);
  const rows = new Map((await store.files.byIds(tenant, fileIds)).map((file) => [file._id, file]));
  const wrote = new Map(worked.map((file) => [file._id, file.generation]));
  const isOurs = ({ move }: FileDoc): boolean => move?.runId === by.runId && move.token === by.token;
  const points: GenerationScope[] = [];
  const contents: GenerationScope[] = [];
  const ours: FileDoc[] = [];
  const gone = fileIds.filter((id) => !rows.has(id));
  // What is kept of it is nobody's to delete here; nor is anything of one that is back by now.
  const kept = gone.length === 0 ? new Set<number>() : await store.quarantine.holds(tenant, gone);
  const back = new Set(gone.length === 0 ? [] : (await store.files.byIds(tenant, gone)).map(({ _id }) => _id));
  for (const fileId of fileIds) {
    const file = rows.get(fileId);
    const generation = wrote.get(fileId);
    if (!file && (kept.has(fileId) || back.has(fileId))) continue;
    if (!file) {
      // Deleted, and what came after the delete had looked goes too.
      points.push({ ...tenant, fileId, generations: EVERY_GENERATION });
      contents.push({ ...tenant, fileId, generations: EVERY_GENERATION });
    } else if (isOurs(file)) {
      ours.push(file);
      points.push({ ...tenant, fileId, generations: superfluousPoints(file) });
    } else if (generation !== undefined && (file.generation !== generation || file.move?.token === null)) {
      // Another content by now, or being deleted: this one is nobody's.
      points.push({ ...tenant, fileId, generations: { exactly: generation } });
      contents.push({ ...tenant, fileId, generations: { exactly: generation } });
    }
  }
  await Promise.all([store.vectors.deleteGenerations(points), store.contents.deleteGenerations(contents)]);
  await Promise.all(
    ours.map(({ _id: fileId, embeddingStorageStatus, coldCopy }) =>
      store.coldCopies.deleteOthers(
        { organizationId, fileId },
        embeddingStorageStatus === 'HOT_STORAGE' ? null : (coldCopy?.key ?? null),
      ),
    ),
  );
  await store.moves.release(
    by,
    ours.map(({ _id }) => _id),
  );
}

import type { Store } from '../../store/connect.js';
import type { TaggedFile } from '../../store/files/tags.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { FileDoc } from '../../store/models/files.js';

/** Maximum number of writes before the attempt fails because the tags change too often. */
const MAX_ITERATIONS = 10;

const revisionOf = (file: TaggedFile): number | null => file.tagsRevision ?? null;

/**
 * Copies the tags of files to their points. Reads the files again after writing, and repeats for files whose tags
 * changed in the meantime, so that of two concurrent changes the later one stays. Safe to repeat.
 * @returns the files that still exist, with the revision of the tags that their points have
 */
export async function settlePointTags(
  { files, vectors }: Pick<Store, 'files' | 'vectors'>,
  ids: readonly number[],
): Promise<TaggedFile[]> {
  const settled: TaggedFile[] = [];
  let remaining = await files.findTags(ids);
  for (let iteration = 0; remaining.length > 0; iteration += 1) {
    if (iteration === MAX_ITERATIONS)
      throw new Error('tags of files change faster than they can be copied to their points');
    // Each iteration reads the result of the previous one.
    await vectors.setTags(remaining);
    const currentFiles = new Map(
      (await files.findTags(remaining.map(({ _id }) => _id))).map((file) => [file._id, file]),
    );
    const changed: TaggedFile[] = [];
    for (const file of remaining) {
      const currentFile = currentFiles.get(file._id);
      if (currentFile) (revisionOf(currentFile) === revisionOf(file) ? settled : changed).push(currentFile);
    }
    remaining = changed;
  }
  return settled;
}

/**
 * Copies the tags of a data source to files and to their points, then records the revision of the source's tags on the
 * files. Safe to repeat.
 */
export async function copySourceTags(
  store: Pick<Store, 'files' | 'vectors'>,
  source: DataSourceDoc,
  files: readonly FileDoc[],
): Promise<void> {
  await store.files.applySourceTags(source, files);
  const settled = await settlePointTags(
    store,
    files.map(({ _id }) => _id),
  );
  await store.files.markSourceTagsApplied(source, settled);
}

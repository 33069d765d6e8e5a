import type { Store } from '../../store/connect.js';
import type { TaggedFile } from '../../store/files/tags.js';

/** Tags that change faster than they can be written are left to the next attempt. */
const MAX_ITERATIONS = 10;

const revisionOf = (file: TaggedFile): number | null => file.tagsRevision ?? null;

/**
 * Copies the tags of files to their points. Reads the files again after writing, and repeats for those whose tags
 * changed in the meantime, so that of two concurrent changes the later one stays. Safe to repeat.
 * @returns the files with the revision that their points have; without deleted ones
 */
export async function settlePointTags(
  { files, vectors }: Pick<Store, 'files' | 'vectors'>,
  ids: readonly number[],
): Promise<TaggedFile[]> {
  const settled: TaggedFile[] = [];
  let open = await files.findTags(ids);
  for (let iteration = 0; open.length > 0; iteration += 1) {
    if (iteration === MAX_ITERATIONS)
      throw new Error('tags of files change faster than they can be copied to their points');
    // Each iteration reads the result of the previous one.
    await vectors.setTags(open);
    const now = new Map((await files.findTags(open.map(({ _id }) => _id))).map((file) => [file._id, file]));
    const moved: TaggedFile[] = [];
    for (const file of open) {
      const fresh = now.get(file._id);
      if (fresh) (revisionOf(fresh) === revisionOf(file) ? settled : moved).push(fresh);
    }
    open = moved;
  }
  return settled;
}

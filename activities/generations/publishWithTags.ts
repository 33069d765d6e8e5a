import type { FileDoc } from '../../store/models/files.js';
import type { Store } from '../../store/connect.js';
import { settlePointTags } from './pointTags.js';

/** Maximum number of retries after a tag change. A file whose tags changed again is not published. */
const TAG_CHANGES = 5;

/**
 * Publishes files. If the tags of a file changed during the sync, its points are updated first.
 * @param publish publishes files whose tags have the given revision; returns their ids
 */
export async function publishWithTags<T extends { readonly file: FileDoc; readonly tagsRevision: number | null }>(
  store: Store,
  files: readonly T[],
  publish: (files: readonly T[]) => Promise<number[]>,
): Promise<number[]> {
  const published: number[] = [];
  let remaining = [...files];
  for (let change = 0; ; change += 1) {
    const publishedIds = new Set(await publish(remaining));
    published.push(...publishedIds);
    remaining = remaining.filter(({ file }) => !publishedIds.has(file._id));
    if (remaining.length === 0 || change === TAG_CHANGES) return published;
    // Rare: the tags changed, or another run owns the file. Only changed tags are retried.
    const settled = await settlePointTags(
      store,
      remaining.map(({ file }) => file._id),
    );
    const revisions = new Map(settled.map((file) => [file._id, file.tagsRevision ?? null]));
    remaining = remaining.flatMap((unpublished) => {
      const tagsRevision = revisions.get(unpublished.file._id);
      return tagsRevision === undefined || tagsRevision === unpublished.tagsRevision
        ? []
        : [{ ...unpublished, tagsRevision }];
    });
    if (remaining.length === 0) return published;
  }
}

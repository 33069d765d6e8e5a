import type { StartedFile } from '../store/files/start.js';
import type { FileDoc } from '../store/files/model.js';
import type { Store } from '../store/connect.js';
import { settlePointTags } from './pointTags.js';
import type { PreparedFile } from './prepareFile.js';

const tenantOf = ({ organizationId, userId }: FileDoc) => ({ organizationId, userId });

/** Deletes what older generations of flipped files left in every store. Safe to repeat. */
export async function cleanUp(store: Store, files: readonly { file: FileDoc; generation: number }[]): Promise<void> {
  const older = files.map(({ file, generation }) => ({
    ...tenantOf(file),
    fileId: file._id,
    generations: { below: generation },
  }));
  await Promise.all([
    store.vectors.deleteGenerations(older),
    store.chunks.deleteGenerations(older),
    store.contents.deleteGenerations(older),
  ]);
  await store.files.cleaned(older.map(({ fileId }) => fileId));
}

/**
 * Deletes what tries wrote that never came to be shown: their numbers lie above the one that readers see. For a try that
 * ends without a flip; one that is tried again leaves it to the flip. Safe to repeat.
 */
export async function discard(store: Store, tries: readonly StartedFile[]): Promise<void> {
  const unseen = tries.flatMap(({ file, generation }) =>
    Array.from({ length: Math.max(0, generation - file.generation) }, (_, back) => ({
      ...tenantOf(file),
      fileId: file._id,
      generations: { exactly: generation - back },
    })),
  );
  await Promise.all([
    store.vectors.deleteGenerations(unseen),
    store.chunks.deleteGenerations(unseen),
    store.contents.deleteGenerations(unseen),
  ]);
}

/** Times a file's tags may change between its points and its flip. */
const TAG_CHANGES = 5;

/** Shows files to readers. One whose tags were changed since it was begun is shown once its points have the new ones. */
async function flip(store: Store, prepared: readonly PreparedFile[]): Promise<number[]> {
  const flipped: number[] = [];
  let open = prepared.map(({ finished }) => finished);
  for (let change = 0; ; change += 1) {
    const done = new Set(await store.files.finish(open));
    flipped.push(...done);
    open = open.filter(({ file }) => !done.has(file._id));
    if (open.length === 0 || change === TAG_CHANGES) return flipped;
    // Seldom: the tags have changed, or another run took the file over. The next try tells which.
    const settled = await settlePointTags(
      store,
      open.map(({ file }) => file._id),
    );
    const revisions = new Map(settled.map((file) => [file._id, file.tagsRevision ?? null]));
    open = open.flatMap((one) => {
      const tagsRevision = revisions.get(one.file._id);
      return tagsRevision === undefined || tagsRevision === one.tagsRevision ? [] : [{ ...one, tagsRevision }];
    });
    if (open.length === 0) return flipped;
  }
}

/**
 * Writes prepared files down: contents and chunks, then points, then the flip that shows both to readers, then the old generation goes.
 * Killed in between, the next try writes a generation of its own and removes this one's rows.
 */
export async function commitFiles(store: Store, prepared: readonly PreparedFile[]): Promise<void> {
  await Promise.all([
    store.contents.write(prepared.flatMap(({ content }) => content ?? [])),
    store.chunks.write(
      prepared.flatMap(({ started: { file, generation }, document }) =>
        document === null ? [] : [{ ...tenantOf(file), fileId: file._id, generation, ...document }],
      ),
    ),
  ]);
  await store.vectors.upsert(
    prepared.flatMap(({ started: { file, generation }, space, vectors }) =>
      space === null || vectors.length === 0
        ? []
        : [
            {
              ...tenantOf(file),
              fileId: file._id,
              parentId: file.parentId,
              generation,
              space,
              model: file.options.embeddingModel,
              source: file.source,
              tagPairs: file.tagPairs,
              vectors,
            },
          ],
    ),
  );
  const flipped = new Set(await flip(store, prepared));
  const done = prepared.filter(({ started }) => flipped.has(started.file._id));
  const overtaken = prepared.filter(({ started }) => !flipped.has(started.file._id));
  const withOlder = done.filter(({ started }) => started.generation > 1);
  if (withOlder.length > 0)
    await cleanUp(
      store,
      withOlder.map(({ started }) => started),
    );
  if (overtaken.length > 0)
    await discard(
      store,
      overtaken.map(({ started }) => started),
    );
}

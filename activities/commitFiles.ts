import { mediaTypeOf } from '../contract/mediaTypes.js';
import type { FileDoc } from '../store/files/model.js';
import type { Store } from '../store/connect.js';
import type { WrittenPoints } from '../store/vectors/vectors.js';
import type { ProcessedDocument } from '../documents/types.js';
import { settlePointTags } from './pointTags.js';
import type { PreparedFile } from './preparedFile.js';

/** A file's generation, and the number that a try writes under. */
export interface TryOfFile {
  readonly file: Pick<FileDoc, '_id' | 'organizationId' | 'userId' | 'generation'>;
  readonly generation: number;
}

const tenantOf = ({ organizationId, userId }: TryOfFile['file']) => ({ organizationId, userId });

/** What of a document its rows hold. */
const textOf = ({ text, prefix, cuts }: ProcessedDocument) => ({ text, prefix, cuts });

/** A file as it was before a flip, and the number that it was flipped to. */
interface ReplacedFile extends TryOfFile {
  readonly file: TryOfFile['file'] & Pick<FileDoc, 'vectorSpace' | 'numChunks' | 'cleanupPending'>;
}

/** The points that a file's record names. */
export const writtenPoints = ({
  _id,
  generation,
  vectorSpace,
  numChunks,
}: Pick<FileDoc, '_id' | 'generation' | 'vectorSpace' | 'numChunks'>): WrittenPoints[] =>
  vectorSpace === null ? [] : [{ fileId: _id, generation, space: vectorSpace, count: numChunks }];

/** Whether all points of older generations are known by the record: no try before this one may have left any. */
const isAllKnown = ({ file, generation }: ReplacedFile): boolean =>
  generation === file.generation + 1 && !file.cleanupPending;

/** Deletes what older generations of flipped files left in every store. Safe to repeat. */
export async function cleanUp(store: Store, files: readonly ReplacedFile[]): Promise<void> {
  const scopeOf = ({ file, generation }: ReplacedFile) => ({
    ...tenantOf(file),
    fileId: file._id,
    generations: { below: generation },
  });
  const older = files.map(scopeOf);
  await Promise.all([
    store.vectors.deletePoints(files.filter(isAllKnown).flatMap(({ file }) => writtenPoints(file))),
    store.vectors.deleteGenerations(files.filter((one) => !isAllKnown(one)).map(scopeOf)),
    store.chunks.deleteGenerations(older),
    store.contents.deleteGenerations(older),
  ]);
  await store.files.cleaned(older.map(({ fileId }) => fileId));
}

/**
 * Deletes what tries wrote that never came to be shown: their numbers lie above the one that readers see. For a try that
 * ends without a flip; one that is tried again leaves it to the flip. Safe to repeat.
 */
export async function discard(store: Store, tries: readonly TryOfFile[]): Promise<void> {
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

/**
 * Shows files to readers. One whose tags were changed since it was begun is shown once its points have the new ones.
 * @param show flips files whose tags are of the given revision; answers the ids of those that were
 */
export async function flipWithTags<T extends { readonly file: FileDoc; readonly tagsRevision: number | null }>(
  store: Store,
  files: readonly T[],
  show: (files: readonly T[]) => Promise<number[]>,
): Promise<number[]> {
  const flipped: number[] = [];
  let open = [...files];
  for (let change = 0; ; change += 1) {
    const done = new Set(await show(open));
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

/** What of a file's record its points carry. */
export const pointFacts = (file: FileDoc, ancestors: ReadonlyMap<number, readonly number[]>) => ({
  ...tenantOf(file),
  fileId: file._id,
  parentId: file.parentId,
  ancestors: ancestors.get(file._id) ?? [],
  source: file.source,
  fileTypeAtSource: file.fileTypeAtSource,
  tagPairs: file.tagPairs,
});

/**
 * Writes prepared files down: contents and chunks, then points, then the flip that shows both to readers, then the old generation goes.
 * Killed in between, the next try writes a generation of its own and removes this one's rows.
 */
export async function commitFiles(store: Store, prepared: readonly PreparedFile[]): Promise<void> {
  await Promise.all([
    store.contents.write(prepared.flatMap(({ content }) => content ?? [])),
    store.chunks.write(
      prepared.flatMap(({ started: { file, generation }, document }) =>
        document === null ? [] : [{ ...tenantOf(file), fileId: file._id, generation, ...textOf(document) }],
      ),
    ),
  ]);
  const withVectors = prepared.filter(({ space, vectors }) => space !== null && vectors.length > 0);
  const ancestors = await store.files.ancestorsOf(withVectors.map(({ started }) => started.file));
  await store.vectors.upsert(
    withVectors.flatMap(({ started: { file, generation }, finished, space, vectors, sparseOf }) =>
      space === null
        ? []
        : [
            {
              ...pointFacts(file, ancestors),
              generation,
              space,
              model: finished.model ?? file.options.embeddingModel,
              mediaType: mediaTypeOf(finished.content.statistics?.fileFormat ?? null, finished.content.hasText),
              vectors,
              ...(sparseOf ? { sparseOf } : {}),
            },
          ],
    ),
  );
  const flipped = new Set(
    await flipWithTags(
      store,
      prepared.map(({ finished }) => finished),
      (syncs) => store.files.finish(syncs),
    ),
  );
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

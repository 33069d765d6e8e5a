import type { FileDoc } from '../../store/models/files.js';
import type { Store } from '../../store/connect.js';
import { tenantOf, writtenPoints } from './points.js';

/** A file, and the number of the generation that an attempt writes for it. */
export interface FileAttempt {
  readonly file: Pick<FileDoc, '_id' | 'organizationId' | 'userId' | 'generation'>;
  readonly generation: number;
}

/** A published file. `file`: its record from before or after the publication; `generation`: the published one. */
interface ReplacedFile extends FileAttempt {
  readonly file: FileAttempt['file'] & Pick<FileDoc, 'vectorSpace' | 'numChunks' | 'cleanupPending'>;
}

/**
 * Whether the record describes all points of older generations: it is from before the publication, and no crashed
 * attempt left other points. Otherwise the points are deleted by a filter for older generations.
 */
const isAllKnown = ({ file, generation }: ReplacedFile): boolean =>
  generation === file.generation + 1 && !file.cleanupPending;

/** Deletes older generations of published files in every store. Safe to repeat. */
export async function cleanUp(store: Store, files: readonly ReplacedFile[]): Promise<void> {
  const scopeOf = ({ file, generation }: ReplacedFile) => ({
    ...tenantOf(file),
    fileId: file._id,
    generations: { below: generation },
  });
  const older = files.map(scopeOf);
  await Promise.all([
    store.vectors.deletePoints(files.filter(isAllKnown).flatMap(({ file }) => writtenPoints(file))),
    store.vectors.deleteGenerations(files.filter((replaced) => !isAllKnown(replaced)).map(scopeOf)),
    store.chunks.deleteGenerations(older),
    store.contents.deleteGenerations(older),
  ]);
  await store.files.markCleanedUp(older.map(({ fileId }) => fileId));
}

/**
 * Deletes unpublished data of attempts: generations above the published one. Call it for an attempt that ends without
 * publishing. It is not needed before a retry, because `cleanUp` deletes this data after the retry publishes. Safe to
 * repeat.
 */
export async function discard(store: Store, attempts: readonly FileAttempt[]): Promise<void> {
  const unpublished = attempts.flatMap(({ file, generation }) =>
    Array.from({ length: Math.max(0, generation - file.generation) }, (_, offset) => ({
      ...tenantOf(file),
      fileId: file._id,
      generations: { exactly: generation - offset },
    })),
  );
  await Promise.all([
    store.vectors.deleteGenerations(unpublished),
    store.chunks.deleteGenerations(unpublished),
    store.contents.deleteGenerations(unpublished),
  ]);
}

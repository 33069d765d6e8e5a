import type { Blobs } from '../contents/blobs.js';
import type { ChunkCommands } from '../chunks/commands.js';
import type { FileCommands } from '../files/commands.js';
import type { Originals } from '../originals/originals.js';
import type { PointsCensus } from '../vectors/census.js';
import type { Vectors } from '../vectors/vectors.js';
import type { Difference, Mended, ReconcileOptions } from './differences.js';
import type { Models, RecordOfFile } from './records.js';

export interface MendingStores {
  readonly models: Models;
  readonly points: Pick<PointsCensus, 'remove'>;
  readonly vectors: Pick<Vectors, 'setTags' | 'deleteGenerations'>;
  readonly chunks: Pick<ChunkCommands, 'deleteGenerations'>;
  readonly originals: Pick<Originals, 'release' | 'sweep'>;
  readonly files: Pick<FileCommands, 'abortOpen' | 'cleaned'>;
  readonly blobs: Pick<Blobs, 'delete'>;
}

const DONE: Mended = { done: true };
const CHANGED: Mended = { done: false, why: 'somebody is at work on the file by now' };
const STUCK = 'No run was at work on this any more. Resync to try again.';

/** Puts single differences right that were just confirmed. Each is safe to repeat. */
export function createMender({ models, points, vectors, chunks, originals, files, blobs }: MendingStores) {
  /** The record while it is as it was judged. */
  const unchanged = (file: RecordOfFile) => ({
    _id: file._id,
    organizationId: file.organizationId,
    userId: file.userId,
    runId: file.runId,
    syncStatus: file.syncStatus,
    generation: file.generation,
    lastGeneration: file.lastGeneration,
  });
  const change = async (file: RecordOfFile, update: object): Promise<Mended> => {
    const { matchedCount } = await models.files.updateOne(unchanged(file), update);
    return matchedCount === 1 ? DONE : CHANGED;
  };
  /** A number that was never given out is never given out again: whatever lies under it can be deleted. */
  const retire = async (file: RecordOfFile | null, generation: number): Promise<boolean> => {
    if (file === null || generation <= file.lastGeneration) return true;
    const { done } = await change(file, { $set: { lastGeneration: generation } });
    // What else is mended of the file goes by its record as it is now.
    if (done) file.lastGeneration = generation;
    return done;
  };

  const countPages = async (file: RecordOfFile): Promise<Mended> => {
    const { organizationId, userId, _id: parentId } = file;
    const rows = await models.files.aggregate<{ _id: string; files: number }>([
      { $match: { organizationId, userId, parentId } },
      { $group: { _id: '$syncStatus', files: { $sum: 1 } } },
    ]);
    const of = (...statuses: string[]): number =>
      rows.reduce((sum, row) => sum + (statuses.includes(row._id) ? row.files : 0), 0);
    const [ready, failed, aborted] = [of('READY', 'READY_TO_SYNC'), of('SYNC_ERROR'), of('SYNC_ABORTED')];
    const $set = {
      'fileMetadata.pages_total': ready + failed + aborted,
      'fileMetadata.pages_ready': ready,
      'fileMetadata.pages_failed': failed,
      'fileMetadata.pages_aborted': aborted,
      updatedAt: new Date(),
    };
    return change(file, { $set });
  };

  /** @param file null for what lies under an id that no record has */
  return async (
    difference: Difference,
    file: RecordOfFile | null,
    resync: ReconcileOptions['resync'],
  ): Promise<Mended | null> => {
    const { mend, organizationId, userId, fileId } = difference;
    if (mend === null) return null;
    if (mend.do === 'deleteStored') {
      await blobs.delete(mend.key);
      return DONE;
    }
    if (userId === null) return null;
    const tenant = { organizationId, userId };
    if (mend.do === 'deleteItems') {
      await models.items.deleteMany({ ...tenant, dataSourceId: mend.dataSourceId });
      return DONE;
    }
    if (fileId === null) return null;
    const its = { ...tenant, fileId };
    switch (mend.do) {
      case 'deleteChunks':
      case 'deleteContents': {
        const { generation } = mend;
        if (!(await retire(file, generation))) return CHANGED;
        if (mend.do === 'deleteChunks')
          await chunks.deleteGenerations([{ ...its, generations: { exactly: generation } }]);
        else await models.contents.deleteMany({ ...its, generation });
        return DONE;
      }
      case 'deletePoints':
        if (!(await retire(file, mend.generation))) return CHANGED;
        await points.remove(tenant, { ...mend, fileId }, mend.fromChunk);
        return DONE;
      case 'deletePages':
        await models.recognizedPages.deleteMany(its);
        return DONE;
      case 'releaseOriginal':
        // The sweep deletes it as what was replaced is deleted.
        await originals.release(its, mend.id, null);
        await originals.sweep();
        return DONE;
      default:
    }
    if (file === null) return null;
    switch (mend.do) {
      case 'resync': {
        const why = await resync(tenant, fileId);
        return why === null ? DONE : { done: false, why };
      }
      case 'setTags':
        await vectors.setTags([{ ...tenant, _id: fileId, tagPairs: file.tagPairs }]);
        return DONE;
      case 'setCount': {
        const { numChunks } = mend;
        return change(file, { $set: { numChunks, 'statistics.numEmbeddings': numChunks, updatedAt: new Date() } });
      }
      case 'countPages':
        return countPages(file);
      case 'cleanUp': {
        const older = [{ ...its, generations: { below: file.generation } }];
        await Promise.all([vectors.deleteGenerations(older), chunks.deleteGenerations(older)]);
        await models.contents.deleteMany({ ...its, generation: { $lt: file.generation } });
        await files.cleaned([fileId]);
        return DONE;
      }
      case 'abort':
        await files.abortOpen(mend.runId, STUCK);
        return DONE;
    }
  };
}

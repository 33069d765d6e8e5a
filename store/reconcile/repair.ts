import type { Blobs } from '../contents/blobs.js';
import type { ChunkCommands } from '../chunks/commands.js';
import { metadataFields } from '../files/metadataFields.js';
import type { FileCommands } from '../files/commands.js';
import type { FileTags, TaggedFile } from '../files/tags.js';
import { pageCounts } from '../files/pageCounts.js';
import type { Originals } from '../originals/originals.js';
import type { Tenant } from '../users/accept.js';
import type { PointsCensus } from '../vectors/census.js';
import type { Vectors } from '../vectors/vectors.js';
import type { Difference, Repair, RepairResult, ReconcileOptions } from './differences.js';
import type { Models, RecordOfFile } from './records.js';

export interface RepairStores {
  readonly models: Models;
  readonly points: Pick<PointsCensus, 'remove'>;
  readonly vectors: Pick<Vectors, 'setTags' | 'deleteGenerations'>;
  readonly chunks: Pick<ChunkCommands, 'deleteGenerations'>;
  readonly originals: Pick<Originals, 'release' | 'sweep'>;
  readonly files: Pick<FileCommands, 'abortOpen' | 'markCleanedUp'> & Pick<FileTags, 'findTags'>;
  readonly blobs: Pick<Blobs, 'delete'>;
}

const DONE: RepairResult = { done: true };
const CHANGED: RepairResult = { done: false, why: 'the file has changed meanwhile' };
const STUCK_MESSAGE = 'Its run ended before this file was finished. Resync to try again.';

/** Creates the function that repairs one confirmed difference. Each repair is safe to repeat. */
export function createRepairer({ models, points, vectors, chunks, originals, files, blobs }: RepairStores) {
  /** Matches the record only if it has not changed since it was compared. */
  const unchanged = (file: RecordOfFile) => ({
    _id: file._id,
    organizationId: file.organizationId,
    userId: file.userId,
    runId: file.runId,
    syncStatus: file.syncStatus,
    generation: file.generation,
    lastGeneration: file.lastGeneration,
  });
  const change = async (file: RecordOfFile, update: object): Promise<RepairResult> => {
    const { matchedCount } = await models.files.updateOne(unchanged(file), update);
    return matchedCount === 1 ? DONE : CHANGED;
  };
  /**
   * Reserves all generations up to this one, so that no later sync writes under a generation whose data is being
   * deleted. Returns false if the file has changed.
   */
  const reserveUpTo = async (file: RecordOfFile | null, generation: number): Promise<boolean> => {
    if (file === null || generation <= file.lastGeneration) return true;
    const { done } = await change(file, { $set: { lastGeneration: generation } });
    // Later repairs of the file use its current record.
    if (done) file.lastGeneration = generation;
    return done;
  };

  const countPages = async (file: RecordOfFile): Promise<RepairResult> =>
    change(file, { $set: { ...metadataFields(await pageCounts(models.files, file)), updatedAt: new Date() } });

  /** Removes data under a file's id, with or without a record. */
  const remove = async (owner: Tenant & { readonly fileId: number }, file: RecordOfFile | null, repair: Repair) => {
    if ('generation' in repair && !(await reserveUpTo(file, repair.generation))) return CHANGED;
    if (repair.do === 'deleteChunks')
      await chunks.deleteGenerations([{ ...owner, generations: { exactly: repair.generation } }]);
    if (repair.do === 'deleteContents') await models.contents.deleteMany({ ...owner, generation: repair.generation });
    if (repair.do === 'deletePoints') await points.remove(owner, { ...repair, fileId: owner.fileId }, repair.fromChunk);
    if (repair.do === 'deletePages') await models.recognizedPages.deleteMany(owner);
    if (repair.do === 'releaseOriginal') {
      // The sweep deletes content that has no file.
      await originals.release(owner, repair.id, null);
      await originals.sweep();
    }
    return DONE;
  };

  const cleanUp = async (
    owner: Tenant & { readonly fileId: number },
    { generation }: RecordOfFile,
  ): Promise<RepairResult> => {
    const older = [{ ...owner, generations: { below: generation } }];
    await Promise.all([vectors.deleteGenerations(older), chunks.deleteGenerations(older)]);
    await models.contents.deleteMany({ ...owner, generation: { $lt: generation } });
    await files.markCleanedUp([owner.fileId]);
    return DONE;
  };

  /** Writes the current tags of a file to its points; writes them again if a request changed them meanwhile. */
  const setTags = async (fileId: number): Promise<RepairResult> => {
    for (let written: TaggedFile | null = null; ;) {
      const [current] = await files.findTags([fileId]);
      if (!current) return CHANGED;
      if (written !== null && (written.tagsRevision ?? null) === (current.tagsRevision ?? null)) return DONE;
      await vectors.setTags([current]);
      written = current;
    }
  };

  /** Corrects a file's record, or data that belongs to it. */
  const correct = async (
    owner: Tenant & { readonly fileId: number },
    file: RecordOfFile,
    repair: Repair,
    resync: ReconcileOptions['resync'],
  ): Promise<RepairResult | null> => {
    switch (repair.do) {
      case 'resync': {
        const why = await resync(owner, owner.fileId);
        return why === null ? DONE : { done: false, why };
      }
      case 'setTags':
        return setTags(owner.fileId);
      case 'setCount': {
        const { numChunks } = repair;
        return change(file, { $set: { numChunks, 'statistics.numEmbeddings': numChunks, updatedAt: new Date() } });
      }
      case 'countPages':
        return countPages(file);
      case 'cleanUp':
        return cleanUp(owner, file);
      case 'abort':
        await files.abortOpen(repair.runId, STUCK_MESSAGE, 'unfinished');
        return DONE;
      case 'deleteChunks':
      case 'deleteContents':
      case 'deletePoints':
      case 'deletePages':
      case 'releaseOriginal':
      case 'deleteStored':
      case 'deleteItems':
        return remove(owner, file, repair);
    }
  };

  /** @param file null for data under an id without a record */
  return async (
    { repair, organizationId, userId, fileId }: Difference,
    file: RecordOfFile | null,
    resync: ReconcileOptions['resync'],
  ): Promise<RepairResult | null> => {
    if (repair === null) return null;
    if (repair.do === 'deleteStored') {
      await blobs.delete(repair.key);
      return DONE;
    }
    if (userId === null) return null;
    const tenant = { organizationId, userId };
    if (repair.do === 'deleteItems') {
      await models.items.deleteMany({ ...tenant, dataSourceId: repair.dataSourceId });
      return DONE;
    }
    if (fileId === null) return null;
    const owner = { ...tenant, fileId };
    return file === null ? remove(owner, null, repair) : correct(owner, file, repair, resync);
  };
}

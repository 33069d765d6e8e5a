import type { PointsCensus } from '../vectors/census.js';
import type { CollectionCondition } from '../vectors/condition.js';
import type { Difference } from './differences.js';
import type { RecordOfFile } from './records.js';

const isHot = ({ numChunks, vectorSpace, embeddingStorageStatus, isQuarantined }: RecordOfFile): boolean =>
  vectorSpace !== null && numChunks > 0 && embeddingStorageStatus === 'HOT_STORAGE' && isQuarantined !== true;

/** Checks which collections are readable, and counts the files in unreadable ones. */
export interface CollectionWatch {
  /** Number of points by space. */
  readonly points: ReadonlyMap<string, number>;
  /** Returns whether the points of a file can be checked. Counts the file if its collection is missing or damaged. */
  isReadable(file: RecordOfFile): boolean;
  /** Returns whether the file has vectors in Qdrant whose collection is readable. */
  hasReadableVectors(file: RecordOfFile): boolean;
  /**
   * Returns the missing or damaged collections of the files counted since the last call. These files must belong to one
   * organization.
   */
  differences(organizationId: number): Promise<Difference[]>;
}

/** Checks all collections once. @throws when Qdrant does not answer */
export async function createCollectionWatch(census: Pick<PointsCensus, 'check'>): Promise<CollectionWatch> {
  let conditions = bySpace(await census.check());
  const affected = new Map<string, number>();
  const isReadable = (space: string): boolean => conditions.get(space)?.problem === null;
  return {
    points: new Map([...conditions].map(([space, { points }]) => [space, points])),
    isReadable(file) {
      const space = file.vectorSpace ?? '';
      if (!isHot(file)) return true;
      if (!isReadable(space)) affected.set(space, (affected.get(space) ?? 0) + 1);
      return isReadable(space);
    },
    hasReadableVectors: (file) => isHot(file) && isReadable(file.vectorSpace ?? ''),
    async differences(organizationId) {
      if (affected.size === 0) return [];
      // A collection may have been created since the first check.
      conditions = bySpace(await census.check());
      const found = [...affected].filter(([space]) => !isReadable(space));
      affected.clear();
      return found.map(([space, files]) => {
        const problem = conditions.get(space)?.problem ?? 'it does not exist';
        return {
          ...{ kind: 'damaged_collection', organizationId, userId: null, fileId: null, repair: null },
          what: `the collection of ${space}, which has the vectors of ${files} file${files === 1 ? '' : 's'}, cannot be searched: ${problem}`,
        };
      });
    },
  };
}

const bySpace = (conditions: readonly CollectionCondition[]): ReadonlyMap<string, CollectionCondition> =>
  new Map(conditions.map((condition) => [condition.space, condition]));

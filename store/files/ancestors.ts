import type { Model } from 'mongoose';

import type { FileDoc } from '../models/files.js';

type FileWithParent = Pick<FileDoc, '_id' | 'organizationId' | 'userId' | 'parentId'>;

/** Maximum depth of nested containers. A deeper nesting is a cycle. */
const MAX_LEVELS = 100;

export interface FileAncestors {
  /**
   * Returns the ids of each file's ancestors, nearest first, by the file's id. One query per level, for any number of
   * files.
   */
  ancestorsOf(files: readonly FileWithParent[]): Promise<Map<number, number[]>>;
}

export function createFileAncestors(files: Model<FileDoc>): FileAncestors {
  return {
    async ancestorsOf(placed) {
      const known = new Map<number, FileWithParent>();
      let wanted = new Set(placed.flatMap(({ parentId }) => parentId ?? []));
      for (let level = 0; wanted.size > 0 && level < MAX_LEVELS; level += 1) {
        const owners = { organizationId: valuesOf(placed, 'organizationId'), userId: valuesOf(placed, 'userId') };
        const rows = await files
          .find({ _id: { $in: [...wanted] }, ...owners }, { organizationId: 1, userId: 1, parentId: 1 })
          .lean();
        for (const row of rows) known.set(row._id, row);
        wanted = new Set(rows.flatMap(({ parentId }) => (parentId === null || known.has(parentId) ? [] : parentId)));
      }
      return new Map(placed.map((file) => [file._id, [...ancestorsIn(file, known)]]));
    },
  };
}

const valuesOf = (placed: readonly FileWithParent[], key: 'organizationId' | 'userId') => ({
  $in: [...new Set(placed.map((file) => file[key]))],
});

/** Returns the ancestors up to the first that is unknown or belongs to another owner. */
function ancestorsIn(file: FileWithParent, known: ReadonlyMap<number, FileWithParent>): Set<number> {
  const found = new Set<number>();
  for (let parentId = file.parentId; parentId !== null && !found.has(parentId);) {
    const parent = known.get(parentId);
    if (parent?.organizationId !== file.organizationId || parent.userId !== file.userId) break;
    found.add(parentId);
    parentId = parent.parentId;
  }
  return found;
}

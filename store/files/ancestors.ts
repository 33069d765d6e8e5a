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
    async ancestorsOf(children) {
      const parents = new Map<number, FileWithParent>();
      let parentIds = new Set(children.flatMap(({ parentId }) => parentId ?? []));
      for (let level = 0; parentIds.size > 0 && level < MAX_LEVELS; level += 1) {
        const owners = { organizationId: valuesOf(children, 'organizationId'), userId: valuesOf(children, 'userId') };
        const rows = await files
          .find({ _id: { $in: [...parentIds] }, ...owners }, { organizationId: 1, userId: 1, parentId: 1 })
          .lean();
        for (const row of rows) parents.set(row._id, row);
        parentIds = new Set(
          rows.flatMap(({ parentId }) => (parentId === null || parents.has(parentId) ? [] : parentId)),
        );
      }
      return new Map(children.map((file) => [file._id, [...ancestorsIn(file, parents)]]));
    },
  };
}

const valuesOf = (children: readonly FileWithParent[], key: 'organizationId' | 'userId') => ({
  $in: [...new Set(children.map((file) => file[key]))],
});

/** Returns the ancestors up to the first that is unknown or belongs to another owner. */
function ancestorsIn(file: FileWithParent, parents: ReadonlyMap<number, FileWithParent>): Set<number> {
  const ancestors = new Set<number>();
  for (let parentId = file.parentId; parentId !== null && !ancestors.has(parentId);) {
    const parent = parents.get(parentId);
    if (parent?.organizationId !== file.organizationId || parent.userId !== file.userId) break;
    ancestors.add(parentId);
    parentId = parent.parentId;
  }
  return ancestors;
}

import type { Model, QueryFilter } from 'mongoose';

interface Owner {
  readonly organizationId: number;
  readonly userId: number;
}

/** Rows that belong to files and are deleted with them. Safe to repeat. */
export interface RowsOfFiles {
  /** Deletes all rows of the given files. */
  deleteOf(tenant: Owner, fileIds: readonly number[]): Promise<void>;
  /** Deletes all rows of a user, including those that no file record references. */
  deleteAll(tenant: Owner): Promise<void>;
  /** Counts the rows of the given files. A deletion calls it to check that none remains. */
  countOf(tenant: Owner, fileIds: readonly number[]): Promise<number>;
}

/** @param rows a collection with an index that begins with organizationId, userId and fileId */
export function rowsOfFiles<T extends Owner & { fileId: number }>(rows: Model<T>): RowsOfFiles {
  const ofFiles = ({ organizationId, userId }: Owner, fileIds: readonly number[]) =>
    ({ organizationId, userId, fileId: { $in: [...fileIds] } }) as unknown as QueryFilter<T>;
  return {
    async deleteOf(tenant, fileIds) {
      await rows.deleteMany(ofFiles(tenant, fileIds));
    },
    async deleteAll({ organizationId, userId }) {
      await rows.deleteMany({ organizationId, userId } as unknown as QueryFilter<T>);
    },
    countOf: (tenant, fileIds) => rows.countDocuments(ofFiles(tenant, fileIds)).exec(),
  };
}

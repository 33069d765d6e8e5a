/** The points of a file in Qdrant, according to its MongoDB record. */
import type { FileDoc } from '../../store/models/files.js';
import type { WrittenPoints } from '../../store/vectors/vectors.js';

export const tenantOf = ({ organizationId, userId }: Pick<FileDoc, 'organizationId' | 'userId'>) => ({
  organizationId,
  userId,
});

/** Returns the points that a file has in Qdrant according to its record: one entry, or none without vectors. */
export const writtenPoints = ({
  _id,
  generation,
  vectorSpace,
  numChunks,
}: Pick<FileDoc, '_id' | 'generation' | 'vectorSpace' | 'numChunks'>): WrittenPoints[] =>
  vectorSpace === null ? [] : [{ fileId: _id, generation, space: vectorSpace, count: numChunks }];

/** Returns the fields of a file's record that the payload of its points contains. */
export const pointPayload = (file: FileDoc, ancestors: ReadonlyMap<number, readonly number[]>) => ({
  ...tenantOf(file),
  fileId: file._id,
  parentId: file.parentId,
  ancestors: ancestors.get(file._id) ?? [],
  source: file.source,
  fileTypeAtSource: file.fileTypeAtSource,
  tagPairs: file.tagPairs,
});

import { type Connection, type Model, Schema } from 'mongoose';

import { mediaTypeOf } from '../../contract/mediaTypes.js';
import type { FileAncestors } from '../files/ancestors.js';
import type { FileDoc } from '../files/model.js';
import type { FilePlace, Vectors } from './vectors.js';

/** Raised with every payload field that points of earlier versions lack. 1: ancestors, file_type_at_source, media_type. */
export const POINTS_VERSION = 1;

/** Files whose points are completed at once. */
const FILES_PER_STEP = 500;

interface PointsDoc {
  _id: 'points';
  version: number;
}

/**
 * Brings the points of earlier versions to this one: first the indexes, then the payload, whose fields come from the
 * records of files. Reads nothing of the points and writes only those that lack a field, so it may run again, in several processes
 * at once, and while files are synced. Resolves at once where it was done before.
 */
export function createPointUpgrade(
  connection: Connection,
  files: Model<FileDoc>,
  { ancestorsOf }: FileAncestors,
  vectors: Pick<Vectors, 'createIndexes' | 'complete'>,
): (stopped?: AbortSignal) => Promise<void> {
  const meta = connection.model<PointsDoc>(
    'pointsMeta',
    new Schema<PointsDoc>({ _id: String, version: Number }, { versionKey: false }),
    'meta',
  );
  const placesOf = async (some: readonly FileDoc[]): Promise<FilePlace[]> => {
    const ancestors = await ancestorsOf(some);
    return some.flatMap(({ _id, organizationId, userId, vectorSpace, fileTypeAtSource, statistics, hasText }) =>
      vectorSpace === null
        ? []
        : {
            ...{ _id, organizationId, userId, fileTypeAtSource, space: vectorSpace },
            ancestors: ancestors.get(_id) ?? [],
            mediaType: mediaTypeOf(statistics?.fileFormat ?? null, hasText),
          },
    );
  };
  return async (stopped?: AbortSignal) => {
    const row = await meta.findById('points').lean();
    if ((row?.version ?? 0) >= POINTS_VERSION) return;
    await vectors.createIndexes();
    for (let afterId = 0; ;) {
      if (stopped?.aborted === true) return;
      const some = await files
        .find({ _id: { $gt: afterId }, vectorSpace: { $ne: null } })
        .sort({ _id: 1 })
        .limit(FILES_PER_STEP)
        .lean();
      if (some.length === 0) break;
      await vectors.complete(await placesOf(some));
      afterId = some.at(-1)?._id ?? afterId;
    }
    await meta.updateOne({ _id: 'points' }, { $max: { version: POINTS_VERSION } }, { upsert: true });
  };
}

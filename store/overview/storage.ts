import type { Model } from 'mongoose';

import { type EmbeddingStorageStatus, FILE_SYNC_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import { FILTER_INDEXES, ORDER_INDEXES } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import type { Vectors } from '../vectors/vectors.js';

export interface StorageOverview {
  readonly files: Readonly<Record<FileSyncStatus, number>>;
  readonly chunks: number;
  /** Bytes of the contents as received. */
  readonly bytes: number;
  /** Number of points in Qdrant by vector space; null if Qdrant does not answer. */
  readonly points: readonly { readonly space: string; readonly points: number }[] | null;
  /** Files whose vectors are not in Qdrant. */
  readonly coldFiles: number;
  /** Cold files whose vectors are being restored. */
  readonly warmingFiles: number;
  readonly coldBytes: number;
  readonly coldPoints: number;
}

/** Time limit of a sum over an organization, in milliseconds. */
const MAX_MS = 10_000;

/**
 * Returns a function that sums the stored files, chunks, bytes and points of one organization. In MongoDB, only the
 * sums over cold files read records; the others read indexes alone. Each call takes longer the more files there are, so
 * cache its result.
 */
export function createStorageOverview(files: Model<FileDoc>, vectors: Pick<Vectors, 'countBySpace'>) {
  return async (organizationId: number): Promise<StorageOverview> => {
    const [statuses, [sizes], cold, points] = await Promise.all([
      files
        .aggregate<{ _id: FileSyncStatus; files: number; chunks: number }>([
          { $match: { organizationId } },
          { $group: { _id: '$syncStatus', files: { $sum: 1 }, chunks: { $sum: '$numChunks' } } },
        ])
        .hint(FILTER_INDEXES.status)
        .option({ maxTimeMS: MAX_MS }),
      files
        .aggregate<{ bytes: number }>([
          { $match: { organizationId } },
          { $group: { _id: null, bytes: { $sum: '$statistics.fileSize' } } },
        ])
        .hint(ORDER_INDEXES.file_size)
        .option({ maxTimeMS: MAX_MS }),
      files
        .aggregate<{ _id: EmbeddingStorageStatus; files: number; bytes: number; points: number }>([
          { $match: { organizationId, embeddingStorageStatus: { $lt: 'HOT_STORAGE' } } },
          {
            $group: {
              _id: '$embeddingStorageStatus',
              files: { $sum: 1 },
              bytes: { $sum: '$coldCopy.bytes' },
              points: { $sum: '$coldCopy.points' },
            },
          },
        ])
        .option({ maxTimeMS: MAX_MS }),
      vectors.countBySpace(organizationId).catch(() => null),
    ]);
    return {
      files: Object.fromEntries(
        FILE_SYNC_STATUSES.map((status) => [status, statuses.find(({ _id }) => _id === status)?.files ?? 0]),
      ) as Record<FileSyncStatus, number>,
      chunks: statuses.reduce((sum, row) => sum + row.chunks, 0),
      bytes: sizes?.bytes ?? 0,
      points,
      coldFiles: cold.reduce((sum, row) => sum + row.files, 0),
      warmingFiles: cold.find(({ _id }) => _id === 'COLD_TO_HOT')?.files ?? 0,
      coldBytes: cold.reduce((sum, row) => sum + row.bytes, 0),
      coldPoints: cold.reduce((sum, row) => sum + row.points, 0),
    };
  };
}

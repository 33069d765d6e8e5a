import path from 'node:path';

import type { CollectionLayout } from '../../store/vectors/layout.js';
import type { EmbeddedEngines } from '../embeddedEngines.js';
import type { Settings } from '../readSettings.js';
import type { Config } from '../types.js';

/**
 * Returns the settings of Temporal, MongoDB, Qdrant, file storage and the disks under them.
 * @param embedded addresses of the embedded engines of the same data folder, which are the defaults
 */
export function storeSection(
  settings: Settings,
  dataDir: string,
  embedded: EmbeddedEngines,
): Pick<Config, 'disks' | 'temporal' | 'mongodbUri' | 'qdrant' | 'textCacheBytes' | 'files'> {
  const s3 = settings.optional('S3_BUCKET');
  const fileStorageDir = path.resolve(settings.optional('FILE_STORAGE_DIR') ?? path.join(dataDir, 'files'));
  const accessKeyId = settings.optional('S3_ACCESS_KEY_ID');
  const secretAccessKey = settings.optional('S3_SECRET_ACCESS_KEY');
  return {
    disks: {
      minFreeBytes: settings.number('MIN_FREE_DISK_BYTES'),
      folders: [
        { name: 'DATA_DIR', path: dataDir },
        // Each folder of an engine may be a volume of its own, so its free space is checked too.
        ...['mongodb', 'qdrant', 'temporal'].map((engine) => ({
          name: `DATA_DIR/${engine}`,
          path: path.join(dataDir, engine),
        })),
        ...(s3 === null ? [{ name: 'FILE_STORAGE_DIR', path: fileStorageDir }] : []),
      ],
    },
    temporal: {
      address: settings.optional('TEMPORAL_ADDRESS') ?? embedded['temporalAddress'] ?? null,
      namespace: settings.string('TEMPORAL_NAMESPACE'),
      taskQueue: settings.string('TASK_QUEUE'),
      uiUrl: settings.optional('TEMPORAL_UI_URL') ?? embedded['temporalUiUrl'] ?? null,
    },
    mongodbUri: settings.optional('MONGODB_URI') ?? embedded['mongodbUri'] ?? null,
    qdrant: {
      url: settings.optional('QDRANT_URL') ?? embedded['qdrantUrl'] ?? null,
      apiKey: settings.optional('QDRANT_API_KEY'),
      prefix: settings.string('QDRANT_COLLECTION_PREFIX'),
      layout: {
        shards: settings.number('QDRANT_SHARDS'),
        replicas: settings.number('QDRANT_REPLICAS'),
        writeConsistency: settings.number('QDRANT_WRITE_CONSISTENCY'),
        quantization: settings.string('QDRANT_QUANTIZATION') as CollectionLayout['quantization'],
        onDisk: settings.list('QDRANT_ON_DISK') as unknown as CollectionLayout['onDisk'],
      },
      writes: { maxBytes: settings.number('QDRANT_WRITE_BYTES'), atOnce: settings.number('QDRANT_WRITES_AT_ONCE') },
    },
    textCacheBytes: settings.number('TEXT_CACHE_BYTES'),
    files: {
      dir: fileStorageDir,
      rowBytes: settings.number('CONTENT_ROW_BYTES'),
      s3:
        s3 === null
          ? null
          : {
              bucket: s3,
              endpoint: settings.optional('S3_ENDPOINT'),
              region: settings.string('S3_REGION'),
              credentials: accessKeyId !== null && secretAccessKey !== null ? { accessKeyId, secretAccessKey } : null,
            },
    },
  };
}

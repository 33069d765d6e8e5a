/** Temporal, MongoDB, Qdrant and file storage. */
import Joi from 'joi';

import { TASK_QUEUE } from '../../contract/runs/workflowIds.js';
import { hostsOfMongodbUri } from '../../store/mongodbUri.js';
import { QUANTIZATIONS } from '../../store/vectors/layout.js';
import { text, count, onDiskParts, readBy, type Setting } from './rules.js';

export const STORES_SETTINGS = {
  TEMPORAL_ADDRESS: { schema: Joi.string(), about: 'host:port of Temporal. Default: the embedded engine.' },
  TEMPORAL_NAMESPACE: { schema: Joi.string().default('default'), about: 'Temporal namespace.' },
  TEMPORAL_UI_URL: {
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: "URL of Temporal's Web UI, for links. Default: the embedded engine's.",
  },
  TASK_QUEUE: {
    schema: Joi.string().default(TASK_QUEUE),
    about: 'Prefix of the task queue names; the deployment id follows.',
  },
  MONGODB_URI: {
    schema: Joi.string().custom(readBy(hostsOfMongodbUri)),
    about:
      'URI of MongoDB, with one or more hosts of a replica set, which transactions require. Default: the embedded engine.',
  },
  QDRANT_URL: {
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: 'URL of Qdrant; port 6333 if it names none. Default: the embedded engine.',
  },
  QDRANT_COLLECTION_PREFIX: {
    schema: Joi.string()
      .pattern(/^[\w.-]+$/)
      .default('allotrope-'),
    about: 'Prefix of the collection names, so that several deployments can share one Qdrant.',
  },
  QDRANT_API_KEY: { schema: text(), about: 'API key of Qdrant, if it requires one.' },
  QDRANT_SHARDS: {
    schema: count(1),
    about:
      'Shards of a collection, for a cluster. This setting, QDRANT_REPLICAS, QDRANT_WRITE_CONSISTENCY, QDRANT_QUANTIZATION and QDRANT_ON_DISK apply to collections created later; the embedded engine ignores them.',
  },
  QDRANT_REPLICAS: { schema: count(1), about: 'Replicas of each shard, on as many nodes of a cluster.' },
  QDRANT_WRITE_CONSISTENCY: {
    schema: Joi.number().integer().min(1).max(Joi.ref('QDRANT_REPLICAS')).default(1).messages({
      'number.max':
        '{{#label}} must be less than or equal to QDRANT_REPLICAS: a write cannot wait for more copies than exist',
    }),
    about: 'Replicas that must confirm a write; QDRANT_REPLICAS at most.',
  },
  QDRANT_QUANTIZATION: {
    schema: Joi.string()
      .valid(...QUANTIZATIONS)
      .default('none'),
    about:
      'Quantization: `scalar` (one byte per dimension) or `binary` (one bit, for vectors with 1,024 dimensions or more) searches quantized vectors in memory, then rescores with the original ones. `none`: no quantization.',
  },
  QDRANT_ON_DISK: {
    schema: Joi.string().allow('').default('').custom(onDiskParts),
    about:
      'Structures that Qdrant reads from disk when needed, separated by commas: `vectors`, `payload`, `hnsw` (the graph), `sparse` (the index of terms). The others use the defaults of Qdrant.',
  },
  QDRANT_WRITE_BYTES: {
    schema: Joi.number().integer().min(1_000_000).max(32_000_000).default(16_000_000),
    about:
      'Maximum size in bytes of a request that writes points; Qdrant accepts up to 32 MB. A single larger point is sent alone.',
  },
  QDRANT_WRITES_AT_ONCE: {
    schema: count(4),
    about: 'Maximum number of concurrent requests per process that write points.',
  },
  FILE_STORAGE_DIR: {
    schema: Joi.string(),
    about: 'Folder for large contents; API and workers must share it. Default: DATA_DIR/files.',
  },
  S3_BUCKET: {
    schema: Joi.string(),
    about: 'Bucket of an S3-compatible store for large contents, instead of a folder. Each deployment needs its own.',
  },
  CONTENT_ROW_BYTES: {
    schema: Joi.number().integer().min(0).max(4_000_000).default(262_144),
    about:
      'Contents up to this number of bytes are stored in MongoDB, where small writes are cheap. 0: all contents are in file storage.',
  },
  TEXT_CACHE_BYTES: {
    schema: Joi.number().integer().min(0).default(32_000_000),
    about: 'Cache size per API process for the texts of chunks that searches return. 0: no cache.',
  },
  S3_ENDPOINT: {
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: 'URL of the S3-compatible store. Default: AWS.',
  },
  S3_REGION: { schema: Joi.string().default('us-east-1'), about: 'Region of the bucket.' },
  S3_ACCESS_KEY_ID: {
    schema: Joi.string(),
    about: 'Credential of the bucket. Default: the credentials of the machine (the default chain of the AWS SDK).',
  },
  S3_SECRET_ACCESS_KEY: { schema: Joi.string(), about: 'Credential of the bucket.' },
} as const satisfies Record<string, Setting>;

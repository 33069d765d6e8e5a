/** Temporal, MongoDB, Qdrant and file storage. */
import Joi from 'joi';

import { TASK_QUEUE } from '../../contract/orchestration.js';
import { QUANTIZATIONS } from '../../store/vectors/layout.js';
import { text, count, onDiskParts, type Setting } from './rules.js';

export const STORES_SETTINGS = {
  TEMPORAL_ADDRESS: { schema: Joi.string(), about: 'host:port of Temporal. Unset: embedded.' },
  TEMPORAL_NAMESPACE: { schema: Joi.string().default('default'), about: 'Temporal namespace.' },
  TEMPORAL_UI_URL: {
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: "Address of Temporal's Web UI, for links. Unset: that of the embedded one.",
  },
  TASK_QUEUE: {
    schema: Joi.string().default(TASK_QUEUE),
    about: 'First part of the task queue names; the deployment id follows.',
  },
  MONGODB_URI: {
    schema: Joi.string().uri({ scheme: ['mongodb', 'mongodb+srv'] }),
    about: 'MongoDB, a replica set (transactions are used). Unset: embedded.',
  },
  QDRANT_URL: { schema: Joi.string().uri({ scheme: ['http', 'https'] }), about: 'Qdrant. Unset: the embedded engine.' },
  QDRANT_COLLECTION_PREFIX: {
    schema: Joi.string()
      .pattern(/^[\w.-]+$/)
      .default('allotrope-'),
    about: 'What our collections begin with, so that several deployments can share one Qdrant.',
  },
  QDRANT_API_KEY: { schema: text(), about: 'API key of Qdrant, where it has one.' },
  QDRANT_SHARDS: {
    schema: count(1),
    about:
      'Shards of a collection, for a cluster. It and the four below hold for collections that are made from then on; the embedded engine takes no notice of them.',
  },
  QDRANT_REPLICAS: { schema: count(1), about: 'Copies of each shard, on as many nodes of a cluster.' },
  QDRANT_WRITE_CONSISTENCY: {
    schema: Joi.number().integer().min(1).max(Joi.ref('QDRANT_REPLICAS')).default(1).messages({
      'number.max': '{{#label}} must be less than or equal to QDRANT_REPLICAS: a write waits for copies that there are',
    }),
    about: 'Copies that a write must have reached before it counts; QDRANT_REPLICAS at most.',
  },
  QDRANT_QUANTIZATION: {
    schema: Joi.string()
      .valid(...QUANTIZATIONS)
      .default('none'),
    about:
      '`scalar` (a byte a number) or `binary` (a bit a number, for vectors of 1,024 numbers and more) searches smaller vectors in memory first, then the true ones. `none`: only these.',
  },
  QDRANT_ON_DISK: {
    schema: Joi.string().allow('').default('').custom(onDiskParts),
    about:
      'What Qdrant reads from disk as it is needed, by comma: `vectors`, `payload`, `hnsw` (the graph), `sparse` (the index of terms). What is not named is as Qdrant has it.',
  },
  QDRANT_WRITE_BYTES: {
    schema: Joi.number().integer().min(1_000_000).max(32_000_000).default(16_000_000),
    about: 'Bytes of one request that writes points; Qdrant takes up to 32 MB. A single point may be longer.',
  },
  QDRANT_WRITES_AT_ONCE: { schema: count(4), about: 'Requests of one process that write points at once.' },
  FILE_STORAGE_DIR: {
    schema: Joi.string(),
    about: 'Folder for large contents; API and workers must share it. Unset: DATA_DIR/files.',
  },
  S3_BUCKET: {
    schema: Joi.string(),
    about: 'Keep large contents in this bucket of an S3-compatible store instead of a folder.',
  },
  CONTENT_ROW_BYTES: {
    schema: Joi.number().integer().min(0).max(4_000_000).default(262_144),
    about: 'Contents up to so many bytes are kept in MongoDB, where writing them is cheap; 0: all in file storage.',
  },
  TEXT_CACHE_BYTES: {
    schema: Joi.number().integer().min(0).default(32_000_000),
    about:
      'Memory of an API process for texts of chunks that searches found, which the next search need not read; 0: none.',
  },
  S3_ENDPOINT: {
    schema: Joi.string().uri({ scheme: ['http', 'https'] }),
    about: 'Address of the S3-compatible store; unset: AWS.',
  },
  S3_REGION: { schema: Joi.string().default('us-east-1'), about: 'Region of the bucket.' },
  S3_ACCESS_KEY_ID: { schema: Joi.string(), about: 'Credential of the bucket.' },
  S3_SECRET_ACCESS_KEY: { schema: Joi.string(), about: 'Credential of the bucket.' },
} as const satisfies Record<string, Setting>;

/** Seeds the embedded chunks of one user directly in the stores. */
import type mongoose from 'mongoose';

import type { VectorSpace } from '../contract/vectors/embeddingModels.js';
import { DEFAULT_INGEST_OPTIONS } from '../contract/files/ingestOptions.js';
import { storedTags, tagPairs } from '../contract/files/tags.js';
import { toSegments } from '../store/chunks/segments.js';
import type { FileDoc } from '../store/models/files.js';
import type { Tenant } from '../store/users/accept.js';
import type { FileVectors } from '../store/vectors/point.js';
import type { Vectors } from '../store/vectors/vectors.js';

export const CHUNKS_PER_FILE = 10;
/** Number of files per write, with all their chunks. */
const FILES_PER_WRITE = 400;
const CHUNK = 'Allotrope keeps the text of a page once, and cuts its chunks out when they are read. '.repeat(18);
const MODEL = DEFAULT_INGEST_OPTIONS.embeddingModel;

/** Returns a vector of length 1 with a uniformly distributed direction. */
export function randomVector(dimensions: number): Float32Array {
  // The sum of three uniform numbers is close enough to a normal distribution.
  const vector = Float32Array.from({ length: dimensions }, () => Math.random() + Math.random() + Math.random() - 1.5);
  const length = Math.hypot(...vector);
  return vector.map((x) => x / length);
}

/** Returns the tags of a file: every tenth file has `tenth`, every second `half`. */
const tagsOf = (number: number) => storedTags({ tenth: number % 10 === 0, half: number % 2 === 0 });

export interface SeedVectors {
  readonly connection: mongoose.Connection;
  readonly vectors: Vectors;
  readonly tenant: Tenant;
  readonly space: VectorSpace;
  /** A file record with default values only. */
  readonly blank: FileDoc;
}

function fileOf({ tenant, space, blank }: SeedVectors, _id: number): FileDoc {
  const tags = tagsOf(_id);
  const url = `https://bench.example/${_id}.html`;
  const now = new Date();
  return {
    ...blank,
    _id,
    ...tenant,
    ...{ customerId: 'bench', source: 'WEB_SCRAPE', externalFileId: url, externalUrl: url, name: url },
    ...{ isContainer: false, syncStatus: 'READY', lastSync: now, tags, tagPairs: tagPairs(tags) },
    ...{ options: DEFAULT_INGEST_OPTIONS, generation: 1, lastGeneration: 1, numChunks: CHUNKS_PER_FILE },
    ...{ vectorSpace: space.name, dimensions: space.dimensions, createdAt: now, updatedAt: now },
  };
}

function vectorsOf({ tenant, space }: SeedVectors, { _id, tagPairs: pairs }: FileDoc): FileVectors {
  return {
    ...tenant,
    ...{ fileId: _id, parentId: null, ancestors: [], generation: 1, space, model: MODEL, source: 'WEB_SCRAPE' },
    ...{ fileTypeAtSource: null, mediaType: 'TEXT', tagPairs: pairs },
    vectors: Array.from({ length: CHUNKS_PER_FILE }, () => randomVector(space.dimensions)),
  };
}

/** Writes files `from` (inclusive) to `to` (exclusive), each of ten chunks with random vectors. */
export async function seedVectors(seed: SeedVectors, from: number, to: number): Promise<void> {
  const cuts = Array.from({ length: CHUNKS_PER_FILE }, (_, index) => ({
    start: index * CHUNK.length,
    end: (index + 1) * CHUNK.length,
    tokens: 360,
  }));
  const text = CHUNK.repeat(CHUNKS_PER_FILE);
  for (let begin = from; begin < to; begin += FILES_PER_WRITE) {
    const ids = Array.from({ length: Math.min(FILES_PER_WRITE, to - begin) }, (_, index) => begin + index);
    const files = ids.map((id) => fileOf(seed, id));
    const segments = ids.flatMap((fileId) => [
      ...toSegments({ ...seed.tenant, fileId, generation: 1, text, prefix: '', cuts }),
    ]);
    await Promise.all([
      seed.connection.collection('files').insertMany(files as never, { ordered: false }),
      seed.connection.collection('segments').insertMany(segments as never, { ordered: false }),
      seed.vectors.upsert(files.map((file) => vectorsOf(seed, file))),
    ]);
  }
}

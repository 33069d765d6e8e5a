import { setImmediate as yieldTurn } from 'node:timers/promises';
import type { QdrantClient } from '@qdrant/js-client-rest';
import pLimit from 'p-limit';

import type { VectorSpace } from '../../contract/vectors/embeddingModels.js';
import type { Collections } from './collection.js';
import { type FileVectors, pointOf } from './point.js';

export interface WriteSettings {
  /** Maximum size of a request in bytes; Qdrant rejects more than 32 MB. */
  readonly maxBytes: number;
  /** Maximum number of concurrent write requests. */
  readonly atOnce: number;
}

type Point = ReturnType<typeof pointOf>;

/** Maximum size of a vector's number in JSON, such as `-0.0000012345678901234567,`. */
const NUMBER_BYTES = 26;
/** Size of a point's names and braces, id and chunk index. */
const POINT_BYTES = 200;
/** Size of the JSON around all points of a request. */
const BODY_BYTES = 20;
/** Number of points that are built before other work of the event loop may run. */
const POINTS_PER_SLICE = 20;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Returns the maximum size of a file's points in bytes; null if each point must be measured. */
function bytesAtMost(file: FileVectors): number | null {
  if (file.sparseOf) return null;
  const numbers = file.vectors.reduce((sum, vector) => sum + vector.length, 0);
  return (
    numbers * NUMBER_BYTES + file.vectors.length * (POINT_BYTES + bytesOf(pointOf({ ...file, vectors: [] }, 0).payload))
  );
}

/**
 * Yields the points of files in requests of at most `maxBytes`. If all files certainly fit in one request, points are
 * not measured, because measuring costs as much as writing.
 */
async function* requestsOf(files: readonly FileVectors[], maxBytes: number): AsyncGenerator<Point[]> {
  const maxSizes = files.map(bytesAtMost);
  const isSmall = maxSizes.reduce<number>((sum, bound) => sum + (bound ?? Infinity), BODY_BYTES) <= maxBytes;
  let points: Point[] = [];
  let bytes = BODY_BYTES;
  let numBuilt = 0;
  for (const file of files) {
    for (const nth of file.vectors.keys()) {
      const point = pointOf(file, nth);
      const pointBytes = isSmall ? 0 : bytesOf(point) + 1;
      if (bytes + pointBytes > maxBytes && points.length > 0) {
        yield points;
        points = [];
        bytes = BODY_BYTES;
      }
      points.push(point);
      bytes += pointBytes;
      numBuilt += 1;
      if (numBuilt % POINTS_PER_SLICE === 0 && !isSmall) await yieldTurn();
    }
  }
  if (points.length > 0) yield points;
}

/**
 * Writes points with a limited number of concurrent requests over all callers. Only the points of requests in progress
 * are in memory.
 */
export function createUpserts(client: QdrantClient, collections: Collections, { maxBytes, atOnce }: WriteSettings) {
  const limit = pLimit(atOnce);
  const write = (space: VectorSpace, points: Point[]) =>
    collections.write(space, (name) => client.upsert(name, { wait: true, points }));
  return async (files: readonly FileVectors[]): Promise<void> => {
    const spaces = new Map(files.map(({ space }) => [space.name, space]));
    await Promise.all(
      [...spaces.values()].map(async (space) => {
        const requests = requestsOf(
          files.filter((file) => file.space.name === space.name),
          maxBytes,
        );
        const writeNext = async (): Promise<boolean> => {
          const { value: points } = await requests.next();
          if (points) await write(space, points);
          return points !== undefined;
        };
        while (await limit(writeNext));
      }),
    );
  };
}

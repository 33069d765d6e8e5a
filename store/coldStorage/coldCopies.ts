import type { Blobs } from '../contents/blobs.js';
import type { ColdCopy } from '../models/files.js';
import type { WholePoint } from '../vectors/points.js';
import { BrokenPointFile, readPointFile, writePointFile } from './pointFile.js';

/** The owner and the generation of stored vectors. */
export interface CopyOwner {
  readonly organizationId: number;
  readonly fileId: number;
  readonly generation: number;
}

/**
 * Vectors in file storage. Their keys begin like those of their file's contents. A deletion of all contents with this
 * prefix therefore deletes the vectors too, and the check that no content remains counts them. Each attempt writes to
 * its own key, so it cannot damage the copy of another attempt.
 */
export interface ColdCopies {
  /**
   * Stores vectors; they are durable when it resolves. Returns null, and stores nothing, if the number of points is not
   * the expected one.
   * @param token identifies the attempt
   */
  save(
    owner: CopyOwner,
    token: string,
    expected: { readonly dimensions: number; readonly points: number },
    points: AsyncIterable<readonly WholePoint[]>,
  ): Promise<ColdCopy | null>;
  /** @throws BrokenPointFile if the copy is missing or damaged, which may be detected only at its end */
  read(copy: ColdCopy): AsyncIterable<WholePoint[]>;
  delete(key: string): Promise<void>;
  /** Deletes every copy of a file except the named one. */
  deleteOthers(file: { organizationId: number; fileId: number }, key: string | null): Promise<void>;
}

const KIND = '.vectors';
export const copyKey = ({ organizationId, fileId, generation }: CopyOwner, token: string): string =>
  `${organizationId}/${fileId}/${generation}.${token}${KIND}`;

class PointsMissing extends Error {}

export function createColdCopies(blobs: Blobs): ColdCopies {
  return {
    async save(owner, token, expected, points) {
      const key = copyKey(owner, token);
      let bytes = 0;
      const counted = async function* (): AsyncIterable<Uint8Array> {
        let numPoints = 0;
        const parts = async function* (): AsyncIterable<readonly WholePoint[]> {
          for await (const batch of points) {
            numPoints += batch.length;
            yield batch;
          }
          if (numPoints !== expected.points) throw new PointsMissing();
        };
        for await (const part of writePointFile(expected, parts())) {
          bytes += part.byteLength;
          yield part;
        }
      };
      try {
        await blobs.putStream(key, counted());
      } catch (error) {
        await blobs.delete(key);
        if (error instanceof PointsMissing) return null;
        throw error;
      }
      return { key, generation: owner.generation, points: expected.points, bytes };
    },
    async *read({ key }) {
      const parts = await blobs.stream(key);
      if (parts === null) throw new BrokenPointFile('the file does not exist');
      yield* readPointFile(parts);
    },
    delete: (key) => blobs.delete(key),
    async deleteOthers(file, key) {
      const keys = await blobs.keysOf(file);
      await Promise.all(keys.filter((copy) => copy.endsWith(KIND) && copy !== key).map((copy) => blobs.delete(copy)));
    },
  };
}

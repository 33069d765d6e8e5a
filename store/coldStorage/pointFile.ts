/**
 * File format of points: a header, one record per point, and a SHA-256 hash of the preceding bytes. Numbers are
 * little-endian. Vectors are stored as 32-bit floats, without loss of precision.
 */
import { createHash } from 'node:crypto';

import type { WholePoint } from '../vectors/points.js';

const MAGIC = Buffer.from('ALLOTROPE-POINTS-1\n');
/** Stored instead of the number of sparse indices if the chunk has no sparse vector. */
const NO_SPARSE = 0xffff_ffff;
const HASH_BYTES = 32;
/** Points per batch. */
const POINTS_AT_ONCE = 256;

/** Thrown when a stored point file is damaged or missing. */
export class BrokenPointFile extends Error {}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Uint32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function record({ chunkIndex, dense, sparse, payload }: WholePoint): Buffer {
  const text = Buffer.from(JSON.stringify(payload));
  return Buffer.concat([
    uint32(chunkIndex),
    uint32(text.byteLength),
    text,
    bytesOf(dense),
    ...(sparse
      ? [uint32(sparse.indices.length), bytesOf(sparse.indices), bytesOf(sparse.values)]
      : [uint32(NO_SPARSE)]),
  ]);
}

/**
 * Yields the bytes of a file with the points.
 * @param header dimension and number of the points, which must be known before the first point is read
 */
export async function* writePointFile(
  header: { readonly dimensions: number; readonly points: number },
  points: AsyncIterable<readonly WholePoint[]>,
): AsyncIterable<Uint8Array> {
  const hash = createHash('sha256');
  const begin = Buffer.concat([MAGIC, uint32(header.dimensions), uint32(header.points)]);
  hash.update(begin);
  yield begin;
  for await (const batch of points) {
    const bytes = Buffer.concat(batch.map(record));
    hash.update(bytes);
    yield bytes;
  }
  yield hash.digest();
}

/** Returns a reader that takes a given number of bytes from parts of any length, and hashes the bytes it returns. */
function createReader(parts: AsyncIterable<Uint8Array>) {
  const source = parts[Symbol.asyncIterator]();
  const hash = createHash('sha256');
  let unread: Buffer = Buffer.alloc(0);
  const take = async (length: number): Promise<Buffer> => {
    const pieces: Buffer[] = [unread];
    let available = unread.byteLength;
    while (available < length) {
      const { value, done } = await source.next();
      if (done === true) throw new BrokenPointFile('the file is truncated');
      pieces.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      available += value.byteLength;
    }
    const joined = pieces.length === 1 ? unread : Buffer.concat(pieces, available);
    unread = joined.subarray(length);
    return joined.subarray(0, length);
  };
  return {
    async bytes(length: number): Promise<Buffer> {
      const taken = await take(length);
      hash.update(taken);
      return taken;
    },
    /** @throws BrokenPointFile unless the rest of the file is the hash of all bytes that were read so far */
    async end(): Promise<void> {
      const expected = hash.digest();
      const actual = await take(HASH_BYTES);
      const { done } = await source.next();
      if (!actual.equals(expected) || unread.byteLength > 0 || done !== true)
        throw new BrokenPointFile('the hash does not match the content');
    },
    close: async (): Promise<void> => void (await source.return?.()),
  };
}

/** Copies the bytes, so that they begin at a multiple of four. */
const floats = (bytes: Buffer): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);
const integers = (bytes: Buffer): Uint32Array => new Uint32Array(Uint8Array.from(bytes).buffer);

/**
 * Yields the points of a file in batches. Damage may be detected only at the end of the file, so do not use
 * the points before the iteration has ended.
 * @throws BrokenPointFile
 */
export async function* readPointFile(parts: AsyncIterable<Uint8Array>): AsyncIterable<WholePoint[]> {
  const reader = createReader(parts);
  const integer = async (): Promise<number> => (await reader.bytes(4)).readUInt32LE();
  try {
    if (!(await reader.bytes(MAGIC.byteLength)).equals(MAGIC))
      throw new BrokenPointFile('the file is not a point file');
    const dimensions = await integer();
    const count = await integer();
    let batch: WholePoint[] = [];
    for (let read = 0; read < count; read += 1) {
      const chunkIndex = await integer();
      const text = (await reader.bytes(await integer())).toString();
      const dense = floats(await reader.bytes(4 * dimensions));
      const terms = await integer();
      const sparse =
        terms === NO_SPARSE
          ? null
          : { indices: integers(await reader.bytes(4 * terms)), values: floats(await reader.bytes(4 * terms)) };
      batch.push({ chunkIndex, dense, sparse, payload: JSON.parse(text) as Record<string, unknown> });
      if (batch.length === POINTS_AT_ONCE) {
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
    await reader.end();
  } catch (error) {
    // The payload in a damaged file may be invalid JSON.
    throw error instanceof SyntaxError ? new BrokenPointFile('the file holds invalid JSON') : error;
  } finally {
    await reader.close();
  }
}

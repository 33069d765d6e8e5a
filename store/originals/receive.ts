import { createHash } from 'node:crypto';

/** Number of leading bytes that are enough to detect the file type. */
const HEAD_BYTES = 64 * 1024;

/** Properties of received content. */
export interface Received {
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** The first bytes, at most HEAD_BYTES. */
  readonly head: Uint8Array;
  /** The whole content if it is small; null if it was streamed to storage. */
  readonly bytes: Buffer | null;
}

/**
 * Receives content in parts and hashes it. Content of at most `smallBytes` stays in memory. Larger content is streamed
 * to `store`, which determines how fast the source is read.
 */
export async function receive(
  parts: AsyncIterable<Uint8Array>,
  smallBytes: number,
  store: (parts: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<Received> {
  const hash = createHash('sha256');
  const source = parts[Symbol.asyncIterator]();
  const buffered: Uint8Array[] = [];
  const head: Uint8Array[] = [];
  let size = 0;
  let headSize = 0;
  const next = async (): Promise<Uint8Array | null> => {
    const { done, value } = await source.next();
    if (done === true) return null;
    hash.update(value);
    size += value.byteLength;
    if (headSize < HEAD_BYTES) {
      const start = value.subarray(0, HEAD_BYTES - headSize);
      head.push(start);
      headSize += start.byteLength;
    }
    return value;
  };
  const received = (bytes: Buffer | null): Received => ({
    size,
    sha256: hash.digest('hex'),
    head: Buffer.concat(head),
    bytes,
  });
  try {
    for (;;) {
      const part = await next();
      if (part === null) return received(Buffer.concat(buffered));
      buffered.push(part);
      if (size > smallBytes) break;
    }
    await store(
      (async function* remainingParts() {
        yield* buffered.splice(0);
        for (let part = await next(); part !== null; part = await next()) yield part;
      })(),
    );
    return received(null);
  } finally {
    // Close the stream, so that the sender stops.
    await source.return?.();
  }
}

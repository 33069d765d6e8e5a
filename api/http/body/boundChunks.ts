import type { RequestHandler } from 'express';

/**
 * Memory that the body parser uses per received chunk, in addition to its bytes: about 350 bytes in Node 20, where
 * 900 kB in chunks of one byte took 320 MB.
 */
const BYTES_PER_CHUNK = 350;
/** Number of chunks that every body may have, regardless of their size: 35 MB of overhead. */
const MAX_SMALL_CHUNKS = 100_000;

/**
 * Closes the connection of a request whose body arrives in so many small chunks that their overhead exceeds the body's
 * size plus 35 MB. Mount it directly before the body parser.
 */
export const boundChunks: RequestHandler = (request, _response, next) => {
  let chunks = 0;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    chunks += 1;
    bytes += chunk.length;
    if (chunks > MAX_SMALL_CHUNKS + bytes / BYTES_PER_CHUNK) request.destroy();
  });
  // The parser attaches its listener in this turn of the event loop, before the first chunk is emitted.
  next();
};

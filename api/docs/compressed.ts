import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Request, Response } from 'express';

const unpack = promisify(gunzip);

/** A large static text, compressed once. */
export interface Compressed {
  readonly type: string;
  readonly gzipped: Buffer;
  readonly etag: string;
}

/** Returns a gzipped text with its ETag. */
export const compressed = (type: string, gzipped: Buffer): Compressed => ({
  ...{ type, gzipped },
  etag: `"${createHash('sha256').update(gzipped).digest('base64url').slice(0, 22)}"`,
});

/** Sends a compressed text, or 304 if the client has it. Clients that do not accept gzip get it unpacked. */
export async function sendCompressed(
  request: Request,
  response: Response,
  { type, gzipped, etag }: Compressed,
): Promise<void> {
  response.set({ 'cache-control': 'no-cache', vary: 'accept-encoding', etag }).type(type);
  if (request.acceptsEncodings('gzip') !== 'gzip') {
    response.send(await unpack(gzipped));
    return;
  }
  response.set('content-encoding', 'gzip').send(gzipped);
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface S3Emulator {
  readonly endpoint: string;
  /** bucket/key → content. */
  readonly objects: Map<string, Buffer>;
  close(): Promise<void>;
}

/** An S3-compatible store that knows put, get, list by prefix and delete of several, path style, any credentials. */
export async function startS3(): Promise<S3Emulator> {
  const objects = new Map<string, Buffer>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const url = new URL(request.url ?? '/', 'http://s3');
    const key = decodeURIComponent(url.pathname.slice(1));
    if (request.headers.authorization === undefined) return void response.writeHead(403).end();
    if (request.method === 'PUT') {
      objects.set(key, unchunked(body, request.headers['content-encoding']));
      return void response.writeHead(200, { etag: '"x"' }).end();
    }
    if (request.method === 'POST' && url.searchParams.has('delete')) {
      for (const [, name] of body.toString().matchAll(/<Key>([^<]+)<\/Key>/g))
        objects.delete(`${key.replace(/\/$/, '')}/${name}`);
      return void response.writeHead(200, { 'content-type': 'application/xml' }).end('<DeleteResult/>');
    }
    if (url.searchParams.has('list-type')) {
      const bucket = `${key.replace(/\/$/, '')}/`;
      const names = [...objects.keys()].filter((name) =>
        name.startsWith(bucket + (url.searchParams.get('prefix') ?? '')),
      );
      const contents = names.map((name) => `<Contents><Key>${name.slice(bucket.length)}</Key></Contents>`).join('');
      return void response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(`<ListBucketResult>${contents}</ListBucketResult>`);
    }
    const found = objects.get(key);
    if (found) response.writeHead(200, { 'content-length': found.length }).end(found);
    else response.writeHead(404, { 'content-type': 'application/xml' }).end('<Error><Code>NoSuchKey</Code></Error>');
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The SDK sends checksummed bodies in chunks of its own: `size;…\r\n` data `\r\n`, then a chunk of size 0. */
function unchunked(body: Buffer, encoding: string | undefined): Buffer {
  if (!encoding?.includes('aws-chunked')) return body;
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.subarray(at, line).toString(), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(body.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

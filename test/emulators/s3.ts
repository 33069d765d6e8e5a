import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface S3Emulator {
  readonly endpoint: string;
  /** Contents by bucket/key. */
  readonly objects: Map<string, Buffer>;
  /** Objects whose deletion in a batch is refused, by bucket/key. */
  readonly locked: Set<string>;
  /** Returns the keys of multipart uploads that are neither completed nor aborted. */
  inProgress(): string[];
  close(): Promise<void>;
}

const XML = { 'content-type': 'application/xml' };

/** Multipart uploads: create, upload part, complete, abort, and list by prefix. */
function createMultipart(objects: Map<string, Buffer>) {
  const uploads = new Map<string, { readonly key: string; readonly parts: Map<number, Buffer> }>();
  let count = 0;
  /** Answers a multipart request; returns false for any other request. */
  const answer = (url: URL, key: string, request: IncomingMessage, body: Buffer, response: ServerResponse): boolean => {
    const { method } = request;
    const id = url.searchParams.get('uploadId') ?? '';
    const upload = uploads.get(id);
    if (method === 'POST' && url.searchParams.has('uploads')) {
      count += 1;
      uploads.set(`u${count}`, { key, parts: new Map() });
      const [bucket = '', ...path] = key.split('/');
      response
        .writeHead(200, XML)
        .end(
          `<InitiateMultipartUploadResult><Bucket>${bucket}</Bucket><Key>${path.join('/')}</Key><UploadId>u${count}</UploadId></InitiateMultipartUploadResult>`,
        );
    } else if (method === 'GET' && url.searchParams.has('uploads')) {
      const keyPrefix = key.replace(/\/$/, '') + '/' + (url.searchParams.get('prefix') ?? '');
      const found = [...uploads].filter(([, entry]) => entry.key.startsWith(keyPrefix));
      const rows = found.map(
        ([name, entry]) =>
          `<Upload><Key>${entry.key.split('/').slice(1).join('/')}</Key><UploadId>${name}</UploadId></Upload>`,
      );
      response.writeHead(200, XML).end(`<ListMultipartUploadsResult>${rows.join('')}</ListMultipartUploadsResult>`);
    } else if (method === 'PUT' && upload) {
      upload.parts.set(
        Number(url.searchParams.get('partNumber')),
        unchunked(body, request.headers['content-encoding']),
      );
      response.writeHead(200, { etag: '"x"' }).end();
    } else if (method === 'POST' && upload) {
      const parts = [...upload.parts].toSorted(([a], [b]) => a - b).map(([, part]) => part);
      objects.set(key, Buffer.concat(parts));
      uploads.delete(id);
      response
        .writeHead(200, XML)
        .end('<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>');
    } else if (method === 'DELETE' && upload) {
      uploads.delete(id);
      response.writeHead(204).end();
    } else return false;
    return true;
  };
  return { answer, inProgress: () => [...uploads.values()].map(({ key }) => key) };
}

/**
 * Starts an S3-compatible store on loopback: put (also multipart), get, list by prefix and delete. It supports only
 * path-style URLs, and accepts any credentials.
 * @param namesPerPage maximum names on a page of a listing; S3's default is 1000
 */
export async function startS3(namesPerPage = 1_000): Promise<S3Emulator> {
  const objects = new Map<string, Buffer>();
  const locked = new Set<string>();
  const multipart = createMultipart(objects);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const url = new URL(request.url ?? '/', 'http://s3');
    const key = decodeURIComponent(url.pathname.slice(1));
    if (request.headers.authorization === undefined) return void response.writeHead(403).end();
    if (multipart.answer(url, key, request, body, response)) return;
    if (request.method === 'DELETE') {
      objects.delete(key);
      return void response.writeHead(204).end();
    }
    if (request.method === 'PUT') {
      objects.set(key, unchunked(body, request.headers['content-encoding']));
      return void response.writeHead(200, { etag: '"x"' }).end();
    }
    if (request.method === 'POST' && url.searchParams.has('delete')) {
      const errors: string[] = [];
      for (const [, name] of body.toString().matchAll(/<Key>([^<]+)<\/Key>/g)) {
        const object = `${key.replace(/\/$/, '')}/${name}`;
        if (locked.has(object)) errors.push(`<Error><Key>${name}</Key><Code>AccessDenied</Code></Error>`);
        else objects.delete(object);
      }
      return void response.writeHead(200, XML).end(`<DeleteResult>${errors.join('')}</DeleteResult>`);
    }
    if (url.searchParams.has('list-type')) {
      const bucket = `${key.replace(/\/$/, '')}/`;
      const all = [...objects.keys()].filter((name) =>
        name.startsWith(bucket + (url.searchParams.get('prefix') ?? '')),
      );
      // The token is a name, so that deletions between two pages cannot skip a name.
      const after = url.searchParams.get('continuation-token') ?? '';
      const remaining = all.toSorted().filter((name) => name > after);
      const names = remaining.slice(0, namesPerPage);
      const last = remaining.length > names.length ? names.at(-1) : undefined;
      const next = last === undefined ? '' : `<NextContinuationToken>${last}</NextContinuationToken>`;
      const contents = names.map((name) => `<Contents><Key>${name.slice(bucket.length)}</Key></Contents>`).join('');
      return void response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(`<ListBucketResult>${contents}${next}</ListBucketResult>`);
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
    locked,
    inProgress: multipart.inProgress,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Decodes the aws-chunked bodies of the SDK: `size;…\r\n` data `\r\n`, then a chunk of size 0. */
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

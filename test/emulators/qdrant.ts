import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface QdrantRequest {
  readonly method: string;
  readonly path: string;
  /** Size of the raw body in bytes. */
  readonly bytes: number;
  readonly body: Record<string, unknown>;
}

export interface QdrantRecorder {
  readonly url: string;
  /** All requests, in order. */
  readonly requests: QdrantRequest[];
  /** Returns the maximum number of concurrent point writes. */
  readonly maxConcurrent: () => number;
  close(): Promise<void>;
}

const WRITE_MS = 20;

/**
 * Starts a server that answers the requests for creating collections and writing points, and records them. It reports
 * that no collection exists.
 */
export async function startQdrantRecorder(): Promise<QdrantRecorder> {
  const requests: QdrantRequest[] = [];
  let running = 0;
  let maxRunning = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const raw = Buffer.concat(parts);
    const { pathname: path } = new URL(request.url ?? '/', 'http://qdrant');
    const method = request.method ?? '';
    requests.push({ method, path, bytes: raw.length, body: raw.length === 0 ? {} : JSON.parse(raw.toString()) });
    if (method === 'PUT' && path.endsWith('/points')) {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await sleep(WRITE_MS);
      running -= 1;
    }
    const result = path.endsWith('/exists') ? { exists: false } : path === '/collections' ? { collections: [] } : true;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ result, status: 'ok', time: 0 }));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    maxConcurrent: () => maxRunning,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

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
 * Starts a server that records and answers all requests. By default, it describes every collection as one with
 * vectors of size 4, answers `/exists` with false, counts 3 points and finds no points. Any other result is `true`.
 * @param collections names in the list of collections
 * @param statusOf the status of the answer to a request; by default 200
 * @param resultOf the result of the answer to a request; undefined: the default
 */
export async function startQdrantRecorder(
  collections: readonly string[] = [],
  statusOf: (request: QdrantRequest) => number = () => 200,
  resultOf: (request: QdrantRequest) => unknown = () => undefined,
): Promise<QdrantRecorder> {
  const requests: QdrantRequest[] = [];
  let running = 0;
  let maxRunning = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const raw = Buffer.concat(parts);
    const { pathname: path } = new URL(request.url ?? '/', 'http://qdrant');
    const method = request.method ?? '';
    const body = raw.length === 0 ? {} : (JSON.parse(raw.toString()) as Record<string, unknown>);
    const recorded: QdrantRequest = { method, path, bytes: raw.length, body };
    requests.push(recorded);
    if (method === 'PUT' && path.endsWith('/points')) {
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await sleep(WRITE_MS);
      running -= 1;
    }
    const results: Readonly<Record<string, unknown>> = {
      exists: { exists: false },
      collections: { collections: collections.map((name) => ({ name })) },
      count: { count: 3 },
      query: { points: [] },
    };
    const described = { config: { params: { vectors: { dense: { size: 4 } } } } };
    const result = method === 'GET' && path.startsWith('/collections/') && !path.endsWith('/exists') ? described : null;
    response.writeHead(statusOf(recorded), { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        result: resultOf(recorded) ?? result ?? results[path.split('/').at(-1) ?? ''] ?? true,
        status: 'ok',
        time: 0,
      }),
    );
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

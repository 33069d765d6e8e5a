/** A proxy between a service and the real Qdrant. It makes chosen requests fail. */
import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** How a request fails. `late`: it is forwarded only after the caller has disconnected. An object: the response. */
export type InjectedFailure =
  | 'late'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown };

export type RequestKind = 'write' | 'search';

export interface QdrantProxy {
  readonly url: string;
  /** Makes the next `times` requests of a kind fail, and forwards all others. Replaces an earlier call. */
  fail(kind: RequestKind, failure: InjectedFailure, times: number): void;
  /** Returns the number of requests of a kind since the last `fail`. */
  seen(kind: RequestKind): number;
  close(): Promise<void>;
}

function kindOf({ method, url = '' }: IncomingMessage): RequestKind | null {
  const path = url.split('?', 1)[0] ?? '';
  if (method === 'PUT' && path.endsWith('/points')) return 'write';
  // Searches are batch requests. A single query is a check of a collection, not a search.
  return method === 'POST' && path.endsWith('/points/query/batch') ? 'search' : null;
}

/** Starts a proxy. @param target the address of Qdrant */
export async function startQdrantProxy(target: string): Promise<QdrantProxy> {
  let failing: { readonly kind: RequestKind; readonly failure: InjectedFailure; remaining: number } | null = null;
  const counts = new Map<RequestKind, number>();
  const pending = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const forward = async (): Promise<void> => {
      const kind = kindOf(request);
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      if (kind !== null) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      if (kind !== null && failing?.kind === kind && failing.remaining > 0) {
        failing.remaining -= 1;
        const { failure } = failing;
        if (failure === 'late') await once(response, 'close');
        else {
          response.writeHead(failure.status, { 'content-type': 'application/json', ...failure.headers });
          response.end(JSON.stringify(failure.body ?? { status: { error: 'a fault of the test' }, time: 0 }));
          return;
        }
      }
      const answer = await fetch(new URL(request.url ?? '/', target), {
        method: request.method ?? 'GET',
        headers: { 'content-type': 'application/json' },
        ...(parts.length === 0 ? {} : { body: Buffer.concat(parts) }),
      });
      const body = Buffer.from(await answer.arrayBuffer());
      if (!response.destroyed) response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
    };
    const work: Promise<void> = forward()
      .catch(() => void response.destroy())
      .finally(() => pending.delete(work));
    pending.add(work);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail(kind, failure, times) {
      failing = { kind, failure, remaining: times };
      counts.clear();
    },
    seen: (kind) => counts.get(kind) ?? 0,
    async close() {
      server.closeAllConnections();
      await Promise.all(pending);
      server.close();
      await once(server, 'close');
    },
  };
}

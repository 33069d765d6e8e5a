import type { QdrantClient } from '@qdrant/js-client-rest';

import { type CallObserver, observe } from '../../observability/watch.js';
import { qdrantFailure } from './qdrantFailure.js';
import type { QueryQdrant } from './reader.js';

/** Converts errors of Qdrant to StoreFailure. Rejects with the signal's reason if the signal is aborted. */
async function withStoreFailures<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw signal?.aborted === true ? error : qdrantFailure(error);
  }
}

/**
 * Returns the client with each request reported to `watch` by method and collection.
 * @throws StoreFailure from every method while Qdrant does not answer or is broken
 */
export function watchedClient(client: QdrantClient, watch: CallObserver | null): QdrantClient {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || typeof name !== 'string') return member;
      return (...args: unknown[]) => {
        const [collection] = args;
        const call = {
          system: 'qdrant',
          operation: name,
          target: typeof collection === 'string' ? collection : '',
        } as const;
        return withStoreFailures(() =>
          observe(watch, call, () => Promise.resolve(member.apply(target, args) as unknown)),
        );
      };
    },
  });
}

/**
 * Returns the reader with each request reported to `watch`: `/collections/<name>/points/query` is the operation
 * `query`, `…/query/batch` is `query_batch`, and `/collections/<name>/points` is `retrieve`, as in Qdrant's client.
 */
export function watchedReader(query: QueryQdrant, watch: CallObserver | null): QueryQdrant {
  return (path, body, signal) => {
    const parts = path.split('?', 1)[0]?.split('/') ?? [];
    const call = {
      system: 'qdrant',
      operation: parts.slice(4).join('_') || 'retrieve',
      target: parts[2] ?? '',
    } as const;
    return withStoreFailures(() => observe(watch, call, () => query(path, body, signal)), signal);
  };
}

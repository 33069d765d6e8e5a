import type { QdrantClient } from '@qdrant/js-client-rest';

import { type Watch, watched } from '../../observability/watch.js';
import type { AskQdrant } from './reader.js';

/** The client, with each of its requests told by the name of its method and the collection. */
export function watchedClient(client: QdrantClient, watch: Watch | null): QdrantClient {
  if (watch === null) return client;
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || typeof name !== 'string') return member;
      return (...given: unknown[]) => {
        const [collection] = given;
        const call = {
          system: 'qdrant',
          operation: name,
          target: typeof collection === 'string' ? collection : '',
        } as const;
        return watched(watch, call, () => Promise.resolve(member.apply(target, given) as unknown));
      };
    },
  });
}

/** The same of questions: `/collections/<name>/points/query` is the operation `query`, and `…/query/batch` is `query_batch`. */
export function watchedReader(ask: AskQdrant, watch: Watch | null): AskQdrant {
  if (watch === null) return ask;
  return (path, question, signal) => {
    const parts = path.split('?', 1)[0]?.split('/') ?? [];
    const call = { system: 'qdrant', operation: parts.slice(4).join('_'), target: parts[2] ?? '' } as const;
    return watched(watch, call, () => ask(path, question, signal));
  };
}

import type { EmbeddingModelId } from '../../contract/embeddingModels.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ApiDeps } from '../deps.js';
import { upstream } from '../upstream.js';

/** The vector of one query in a space. @throws HttpError 502 or 503 where the space's provider refuses or fails */
export type QueryVectors = (space: string) => Promise<readonly number[] | Float32Array>;

/**
 * What a query is compared by: the vector that was given with it, or those of its text. The embedded model begins at once, while it is not known yet where the caller's files lie: asked in
 * vain it costs nothing. Others get a text only where there are files to be found by it.
 */
export function queryVectors(
  { organizationId, userId }: Tenant,
  query: string,
  model: EmbeddingModelId,
  given: readonly number[] | null,
  signal: AbortSignal,
  { embedder, metrics }: Pick<ApiDeps, 'embedder' | 'metrics'>,
): QueryVectors {
  const tenant = { organizationId, userId };
  // Nothing is embedded where a vector was given.
  if (given) return () => Promise.resolve(given);
  const embed: QueryVectors = (space) =>
    upstream(async () => {
      const [vector] = await embedder.embed(space, [query], 'query', signal, tenant);
      metrics.embedded({ space, purpose: 'query', outcome: 'computed', texts: 1 });
      return vector ?? [];
    });
  const served = embedder.models().find((one) => one.model === model);
  if (served?.provider !== null) return embed;
  const own = served.space.name;
  const begun = embed(own);
  // Who does not ask for it does not hear of its failure.
  begun.catch(() => undefined);
  return (space) => (space === own ? begun : embed(space));
}

import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ApiDeps } from '../http/deps.js';
import { upstream } from '../upstream.js';

/**
 * Returns the vector of a query in a space. @throws HttpError 502 or 503 if the space's provider rejects the request or
 * fails
 */
export type QueryVectors = (space: string) => Promise<readonly number[] | Float32Array>;

/**
 * Returns a function that provides the query vector of a space: the caller's vector, or one computed from the text. The
 * embedded model starts immediately, before the spaces of the caller's files are known, because it has no fee. Other
 * providers receive the text only if files in their space exist.
 */
export function queryVectors(
  { organizationId, userId }: Tenant,
  {
    query,
    model,
    callerVector,
  }: { readonly query: string; readonly model: EmbeddingModelId; readonly callerVector: readonly number[] | null },
  signal: AbortSignal,
  { embedder, metrics }: Pick<ApiDeps, 'embedder' | 'metrics'>,
): QueryVectors {
  const tenant = { organizationId, userId };
  if (callerVector) return () => Promise.resolve(callerVector);
  const embed: QueryVectors = (space) =>
    upstream(async () => {
      const [vector] = await embedder.embed(space, [query], 'query', signal, tenant);
      metrics.embedded({ space, purpose: 'query', outcome: 'computed', texts: 1 });
      return vector ?? [];
    });
  const configured = embedder.models().find((candidate) => candidate.model === model);
  if (configured?.provider !== null) return embed;
  const ownSpace = configured.space.name;
  const ownVectors = embed(ownSpace);
  // Attach a handler now: if no search uses this vector, a failure would be an unhandled rejection.
  ownVectors.catch(() => undefined);
  return (space) => (space === ownSpace ? ownVectors : embed(space));
}

import type { VectorSpace } from '../contract/embeddingModels.js';
import { contentStep } from './contentStep.js';
import type { ActivityDeps } from './deps.js';

/** The vectors of texts, in their order: those known from before, and the rest computed now. */
export async function embedTexts(
  organizationId: number,
  space: VectorSpace,
  texts: readonly string[],
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const vectors = await deps.store.vectorCache.find(organizationId, space.name, texts);
  const missing = [...new Set(texts.filter((_text, index) => vectors[index]?.length !== space.dimensions))];
  if (missing.length > 0) {
    const computed = await contentStep('embedded', signal, deps, () =>
      deps.embeddings.embed(space.name, missing, 'document', signal, organizationId),
    );
    await deps.store.vectorCache.put(organizationId, space.name, missing, computed);
    const fresh = new Map(missing.map((text, index) => [text, computed[index]]));
    texts.forEach((text, index) => {
      vectors[index] = fresh.get(text) ?? vectors[index] ?? null;
    });
  }
  return vectors.map((vector) => {
    if (!vector) throw new Error('a text was left without a vector');
    return vector;
  });
}

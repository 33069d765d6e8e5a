import { Fault } from '../../contract/failures.js';
import type { EmbeddingProvider, VectorSpace } from './types.js';

/**
 * Wraps a provider so that an invalid response (too short, a wrong dimension, NaN, Infinity or only zeros) becomes a
 * Fault and is never used as a vector.
 */
export function guardVectors(provider: EmbeddingProvider): EmbeddingProvider {
  const guarded = async (count: number, answer: Promise<Float32Array[]>): Promise<Float32Array[]> => {
    const vectors = await answer;
    const defect = findDefect(vectors, count, provider.space);
    if (defect !== null) {
      throw new Fault(
        'embedding_failed',
        `The embedding provider of the vector space "${provider.space.name}" returned an invalid response: ${defect}. ` +
          'Nothing was stored. If it happens again, check that the configured model is the one that the name of the space states.',
      );
    }
    return vectors;
  };
  const { embedImages } = provider;
  return {
    space: provider.space,
    prepare: () => provider.prepare?.(),
    embed: (texts, purpose, signal, fairnessKey) =>
      guarded(texts.length, provider.embed(texts, purpose, signal, fairnessKey)),
    ...(embedImages
      ? {
          embedImages: (images, signal, fairnessKey) =>
            guarded(images.length, embedImages(images, signal, fairnessKey)),
        }
      : {}),
    close: () => provider.close(),
  };
}

/** Returns a description of the defect of a response's vectors; null for valid ones. */
export function findDefect(
  vectors: readonly (Float32Array | undefined)[],
  count: number,
  space: VectorSpace,
): string | null {
  if (vectors.length !== count) return `${vectors.length} vectors for ${count} texts`;
  // Loop by index: a provider that fills its response out of order could leave a hole.
  for (let index = 0; index < count; index++) {
    const vector = vectors[index];
    if (vector?.length !== space.dimensions) {
      return `a vector of ${vector?.length ?? 0} numbers instead of ${space.dimensions}`;
    }
    if (!vector.every(Number.isFinite)) return 'a vector with numbers that are not finite';
    if (!vector.some((x) => x !== 0)) return 'a vector of zeros only';
  }
  return null;
}

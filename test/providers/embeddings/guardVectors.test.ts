import { expect, test } from '@jest/globals';
import { guardVectors } from '../../../providers/embeddings/guardVectors.js';
import type { EmbeddingProvider } from '../../../providers/embeddings/types.js';

function answering(vectors: Float32Array[]): EmbeddingProvider {
  return guardVectors({
    space: { name: 'three', dimensions: 3 },
    embed: async () => vectors,
    close: async () => {},
  });
}

test('returns a valid answer unchanged', async () => {
  const vectors = [Float32Array.of(1, 0, 0), Float32Array.of(0, 1, 0)];
  expect(await answering(vectors).embed(['a', 'b'], 'document')).toBe(vectors);
});

test('passes calls on to the provider with their arguments, and checks the vectors of pictures too', async () => {
  const calls: unknown[][] = [];
  const vectors = [Float32Array.of(1, 0, 0)];
  const { signal } = new AbortController();
  const fairnessKey = { organizationId: 7 };
  const guarded = guardVectors({
    space: { name: 'three', dimensions: 3 },
    prepare: () => void calls.push(['prepare']),
    embed: async (...given) => (calls.push(['embed', ...given]), vectors),
    embedImages: async (...given) => (calls.push(['embedImages', ...given]), vectors),
    close: async () => void calls.push(['close']),
  });
  const [image] = [Uint8Array.of(1)];
  guarded.prepare?.();
  await guarded.embed(['a'], 'query', signal, fairnessKey);
  expect(await guarded.embedImages?.([image!], signal, fairnessKey)).toBe(vectors);
  await expect(guarded.embedImages?.([image!, image!])).rejects.toThrow('1 vectors for 2 texts');
  await guarded.close();
  expect(calls).toEqual([
    ['prepare'],
    ['embed', ['a'], 'query', signal, fairnessKey],
    ['embedImages', [image], signal, fairnessKey],
    ['embedImages', [image, image], undefined, undefined],
    ['close'],
  ]);
  expect(answering([])).not.toHaveProperty('embedImages');
});

const vectorsWithHole = new Array<Float32Array>(2);
vectorsWithHole[1] = Float32Array.of(1, 0, 0);

test.each([
  ['too few vectors', [Float32Array.of(1, 0, 0)], '1 vectors for 2 texts'],
  ['too many vectors', Array.from({ length: 3 }, () => Float32Array.of(1, 0, 0)), '3 vectors for 2 texts'],
  ['an overlong vector', [Float32Array.of(1, 0, 0), Float32Array.of(1, 0, 0, 0)], '4 numbers instead of 3'],
  ['a missing vector', vectorsWithHole, '0 numbers instead of 3'],
  ['zeros', [Float32Array.of(1, 0, 0), Float32Array.of(0, 0, 0)], 'zeros only'],
  ['NaN', [Float32Array.of(1, 0, 0), Float32Array.of(0, Number.NaN, 0)], 'not finite'],
  ['Infinity', [Float32Array.of(1, 0, Number.POSITIVE_INFINITY), Float32Array.of(1, 0, 0)], 'not finite'],
])('reports %s as a fault that names the space', async (_name, vectors, message) => {
  const embedding = answering(vectors).embed(['a', 'b'], 'document');
  await expect(embedding).rejects.toMatchObject({ name: 'Fault', kind: 'embedding_failed' });
  await expect(embedding).rejects.toThrow(message);
  await expect(embedding).rejects.toThrow('"three"');
});

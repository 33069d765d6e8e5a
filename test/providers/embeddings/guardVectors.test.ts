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

test('a right answer passes as it is', async () => {
  const vectors = [Float32Array.of(1, 0, 0), Float32Array.of(0, 1, 0)];
  expect(await answering(vectors).embed(['a', 'b'], 'document')).toBe(vectors);
});

const hole = new Array<Float32Array>(2);
hole[1] = Float32Array.of(1, 0, 0);

test.each([
  ['too few vectors', [Float32Array.of(1, 0, 0)], '1 vectors for 2 texts'],
  ['too many vectors', Array.from({ length: 3 }, () => Float32Array.of(1, 0, 0)), '3 vectors for 2 texts'],
  ['a vector that is too long', [Float32Array.of(1, 0, 0), Float32Array.of(1, 0, 0, 0)], '4 numbers instead of 3'],
  ['a vector that is missing', hole, '0 numbers instead of 3'],
  ['zeros', [Float32Array.of(1, 0, 0), Float32Array.of(0, 0, 0)], 'zeros only'],
  ['NaN', [Float32Array.of(1, 0, 0), Float32Array.of(0, Number.NaN, 0)], 'not finite'],
  ['Infinity', [Float32Array.of(1, 0, Number.POSITIVE_INFINITY), Float32Array.of(1, 0, 0)], 'not finite'],
])('%s is a fault that names the space', async (_what, vectors, said) => {
  const embedding = answering(vectors).embed(['a', 'b'], 'document');
  await expect(embedding).rejects.toMatchObject({ name: 'Fault', kind: 'embedding_failed' });
  await expect(embedding).rejects.toThrow(said);
  await expect(embedding).rejects.toThrow('"three"');
});

import { readCount, readVector } from './numbers.js';
import { member } from '../../members.js';
import type { RemoteAnswer } from './types.js';

/**
 * Reads the response format that OpenAI, Azure and Solar share: `data`, a list of {index, embedding} in any order, and
 * `usage`.
 * @throws Error if an entry has no valid index, or two entries have the same index
 */
export function readOpenAiAnswer(answer: unknown, count: number): RemoteAnswer {
  const data = member(answer, 'data');
  if (!Array.isArray(data)) throw new Error('no list "data"');
  const vectors = new Array<Float32Array | undefined>(Math.max(count, data.length)).fill(undefined);
  for (const entry of data as unknown[]) {
    const index = member(entry, 'index');
    if (typeof index !== 'number' || !(index in vectors)) throw new Error('an embedding without an index');
    if (vectors[index]) throw new Error(`two embeddings with the index ${index}`);
    vectors[index] = readVector(member(entry, 'embedding'));
  }
  return { vectors, tokens: readCount(member(member(answer, 'usage'), 'total_tokens')) };
}

import type { Reranker } from '../http/deps.js';
import type { FoundChunk } from './findCurrent.js';
import { upstream } from '../upstream.js';

/**
 * Returns the best k results in the reranker's order, with its scores. Pictures have no text: they follow in their
 * previous order.
 * @throws HttpError 502 or 503 if the service rejects the request or fails
 */
export async function rerankFound(
  found: readonly FoundChunk[],
  { query, k }: { readonly query: string; readonly k: number },
  reranker: Reranker,
  signal: AbortSignal,
): Promise<FoundChunk[]> {
  const withText = found.filter(({ chunk }) => chunk.text.trim() !== '');
  const withoutText = found.filter(({ chunk }) => chunk.text.trim() === '');
  const texts = withText.map(({ chunk }) => chunk.text);
  const ranked = await upstream(() => reranker.rerank(query, texts, Math.min(k, texts.length), signal));
  const ordered = ranked.flatMap(({ index, score }) => {
    const candidate = withText[index];
    return candidate ? [{ ...candidate, hit: { ...candidate.hit, score } }] : [];
  });
  return [...ordered, ...withoutText].slice(0, k);
}

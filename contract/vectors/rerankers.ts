/** Rerankers of the public interface; each value names one model of one provider. */
export const RERANK_MODELS = [
  'COHERE_RERANK_MULTILINGUAL_V3',
  'JINA_RERANKER_MULTILINGUAL_V2',
  'PONGO_RERANKER',
] as const;
export type RerankModel = (typeof RERANK_MODELS)[number];

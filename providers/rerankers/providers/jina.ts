/** https://api.jina.ai/docs, POST /v1/rerank; self-hosted servers (vLLM and others) accept the same requests. */
import { listIn, member } from '../../members.js';
import type { RerankService } from '../types.js';

export const jina: RerankService = {
  name: 'Jina',
  keySetting: 'JINA_API_KEY',
  urlSetting: 'JINA_BASE_URL',
  filters: false,
  createRequest: ({ baseUrl, apiKey }, query, documents, count) => ({
    url: `${baseUrl}/rerank`,
    headers: { authorization: `Bearer ${apiKey}` },
    body: {
      model: 'jina-reranker-v2-base-multilingual',
      query,
      documents,
      top_n: count,
      return_documents: false,
    },
  }),
  read: (answer) =>
    listIn(member(answer, 'results'))?.map((result) => ({
      index: member(result, 'index'),
      score: member(result, 'relevance_score'),
    })),
};

/** https://docs.cohere.com/reference/rerank */
import { listIn, member } from '../../members.js';
import type { RerankService } from '../types.js';

export const cohere: RerankService = {
  name: 'Cohere',
  keySetting: 'COHERE_API_KEY',
  urlSetting: 'COHERE_BASE_URL',
  filters: false,
  createRequest: ({ baseUrl, apiKey }, query, documents, count) => ({
    url: `${baseUrl}/rerank`,
    headers: { authorization: `Bearer ${apiKey}` },
    body: { model: 'rerank-multilingual-v3.0', query, documents, top_n: count },
  }),
  read: (answer) =>
    listIn(member(answer, 'results'))?.map((result) => ({
      index: member(result, 'index'),
      score: member(result, 'relevance_score'),
    })),
};

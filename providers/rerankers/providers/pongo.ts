/**
 * https://docs.pongo.ai/api-reference/semantic-filtering/filter: the response contains the texts with their ids and
 * scores.
 */
import { listIn, member } from '../../members.js';
import type { RerankService } from '../types.js';

/** Number of texts that Pongo scores in its last, semantic step, unless a search requests more results. */
const SEMANTIC_SAMPLE = 25;

/** Parses the id of a text, which may be returned as a string. */
const indexOf = (id: unknown): unknown => (typeof id === 'string' && /^\d{1,9}$/.test(id) ? Number(id) : id);

export const pongo: RerankService = {
  name: 'Pongo',
  keySetting: 'PONGO_API_KEY',
  urlSetting: 'PONGO_BASE_URL',
  // Pongo omits texts that share too little with the query, so it may return fewer results than requested.
  filters: true,
  createRequest: ({ baseUrl, apiKey }, query, texts, count) => ({
    url: `${baseUrl}/filter`,
    headers: { secret: apiKey },
    body: {
      query,
      docs: texts.map((text, id) => ({ id, text, metadata: {} })),
      num_results: count,
      vec_sample_size: Math.max(SEMANTIC_SAMPLE, count),
    },
  }),
  read: (answer) =>
    listIn(answer)?.map((result) => ({ index: indexOf(member(result, 'id')), score: member(result, 'score') })),
};

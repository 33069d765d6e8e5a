/** https://docs.pongo.ai/api-reference/semantic-filtering/filter: the texts come back with their ids and scores. */
import { listIn, member } from '../../members.js';
import type { RerankService } from '../types.js';

/** Texts that reach the last step of its scoring, by meaning, unless more are wanted. */
const SAMPLE = 25;

/** An id as it was sent, which may come back as text. */
const indexOf = (id: unknown): unknown => (typeof id === 'string' && /^\d{1,9}$/.test(id) ? Number(id) : id);

export const pongo: RerankService = {
  name: 'Pongo',
  keySetting: 'PONGO_API_KEY',
  urlSetting: 'PONGO_BASE_URL',
  // What shares too little with the query does not reach the last step.
  filters: true,
  ask: ({ baseUrl, apiKey }, query, texts, count) => ({
    url: `${baseUrl}/filter`,
    headers: { secret: apiKey },
    body: {
      query,
      docs: texts.map((text, id) => ({ id, text, metadata: {} })),
      num_results: count,
      vec_sample_size: Math.max(SAMPLE, count),
    },
  }),
  read: (answer) => listIn(answer)?.map((one) => ({ index: indexOf(member(one, 'id')), score: member(one, 'score') })),
};

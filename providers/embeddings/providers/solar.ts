import type { EmbeddingModelRow } from '../../../contract/embeddingModels.js';
import { readOpenAiAnswer } from '../remote/openAiAnswer.js';
import type { RemoteModel, Upstream } from '../remote/types.js';
import { textsOf } from './openai.js';

export interface SolarSettings {
  /** Without a trailing slash, e.g. https://api.upstage.ai/v1. */
  readonly baseUrl: string;
  readonly key: string;
}

export const SOLAR: Upstream = { name: 'Upstage', credentials: 'SOLAR_API_KEY', address: 'SOLAR_BASE_URL' };

/** Of 4,000; its tokenizer has half as many words as cl100k and makes more tokens of some languages. */
const INPUT_TOKENS = 3_000;
/** Of 204,800, likewise. */
const REQUEST_TOKENS = 150_000;

/** Upstage's pair of models in one space: one for passages, one for queries. 100 texts a request. */
export function solarModel({ baseUrl, key }: SolarSettings, row: EmbeddingModelRow): RemoteModel {
  return {
    space: { name: row.space, dimensions: row.dimensions },
    request: { inputs: 100, tokens: REQUEST_TOKENS, bytes: 4_000_000 },
    input: { tokens: INPUT_TOKENS, bytes: 200_000 },
    ask: async (inputs, purpose) => ({
      url: `${baseUrl}/embeddings`,
      headers: { authorization: `Bearer ${key}` },
      body: { model: `${row.upstream}-${purpose === 'query' ? 'query' : 'passage'}`, input: textsOf(inputs) },
    }),
    read: readOpenAiAnswer,
  };
}

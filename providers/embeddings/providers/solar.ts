import type { EmbeddingModelRow } from '../../../contract/vectors/embeddingModels.js';
import { readOpenAiAnswer } from '../remote/openAiAnswer.js';
import type { RemoteModel, Upstream } from '../remote/types.js';
import { textsOf } from './openai.js';

export interface SolarSettings {
  /** URL without a trailing slash, e.g. https://api.upstage.ai/v1. */
  readonly baseUrl: string;
  readonly key: string;
}

export const SOLAR: Upstream = { name: 'Upstage', credentials: 'SOLAR_API_KEY', address: 'SOLAR_BASE_URL' };

/**
 * Below Upstage's limit of 4,000 tokens per text: Upstage's tokenizer has half the vocabulary of cl100k and produces
 * more tokens for some languages.
 */
const INPUT_TOKENS = 3_000;
/** Below Upstage's limit of 204,800 tokens per request, for the same reason. */
const REQUEST_TOKENS = 150_000;

/**
 * Creates Upstage's pair of models for one vector space: one model for passages, one for queries. A request contains at
 * most 100 texts.
 */
export function solarModel({ baseUrl, key }: SolarSettings, row: EmbeddingModelRow): RemoteModel {
  return {
    space: { name: row.space, dimensions: row.dimensions },
    request: { inputs: 100, tokens: REQUEST_TOKENS, bytes: 4_000_000 },
    input: { tokens: INPUT_TOKENS, bytes: 200_000 },
    createRequest: async (inputs, purpose) => ({
      url: `${baseUrl}/embeddings`,
      headers: { authorization: `Bearer ${key}` },
      body: { model: `${row.upstream}-${purpose === 'query' ? 'query' : 'passage'}`, input: textsOf(inputs) },
    }),
    read: readOpenAiAnswer,
  };
}

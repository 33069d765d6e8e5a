import type { EmbeddingModelRow } from '../../../contract/vectors/embeddingModels.js';
import { readCount, readVector } from '../remote/numbers.js';
import { member } from '../../members.js';
import type { RemoteModel, Upstream } from '../remote/types.js';
import { textsOf } from './openai.js';

export interface CohereSettings {
  /** URL without a trailing slash, e.g. https://api.cohere.com/v2. */
  readonly baseUrl: string;
  readonly key: string;
}

export const COHERE: Upstream = { name: 'Cohere', credentials: 'COHERE_API_KEY', address: 'COHERE_BASE_URL' };

/**
 * Cohere accepts 512 tokens of its multilingual tokenizer per text, which produces more tokens for code and digits than
 * cl100k does. With this many cl100k tokens most texts fit. A longer one is rejected (truncate NONE) and halved.
 */
const INPUT_TOKENS = 400;

/** Creates a model of Cohere; a request contains at most 96 texts (docs: API reference, Embed). */
export function cohereModel({ baseUrl, key }: CohereSettings, row: EmbeddingModelRow): RemoteModel {
  const { upstream: model, dimensions } = row;
  return {
    space: { name: row.space, dimensions },
    request: { inputs: 96, tokens: 96 * INPUT_TOKENS, bytes: 4_000_000 },
    input: { tokens: INPUT_TOKENS, bytes: 16_000 },
    createRequest: async (inputs, purpose) => ({
      url: `${baseUrl}/embed`,
      headers: { authorization: `Bearer ${key}` },
      body: {
        model,
        texts: textsOf(inputs),
        input_type: purpose === 'query' ? 'search_query' : 'search_document',
        embedding_types: ['float'],
        truncate: 'NONE',
      },
    }),
    read(answer) {
      const floats = member(member(answer, 'embeddings'), 'float');
      if (!Array.isArray(floats)) throw new Error('no list "embeddings.float"');
      const units = member(member(answer, 'meta'), 'billed_units');
      return { vectors: floats.map(readVector), tokens: readCount(member(units, 'input_tokens')) };
    },
  };
}

import type { EmbeddingModelRow } from '../../../contract/embeddingModels.js';
import { readOpenAiAnswer } from '../remote/openAiAnswer.js';
import type { Input, RemoteModel, Upstream } from '../remote/types.js';

export interface OpenAiSettings {
  /** Without a trailing slash, e.g. https://api.openai.com/v1. */
  readonly baseUrl: string;
  readonly key: string;
}

export const OPENAI: Upstream = { name: 'OpenAI', credentials: 'OPENAI_API_KEY', address: 'OPENAI_BASE_URL' };

/**
 * Taken by OpenAI: 2,048 inputs and 300,000 tokens a request (docs: API reference, Create embeddings). Fewer inputs keep answers
 * small and turns short.
 */
export const OPENAI_REQUEST = { inputs: 512, tokens: 300_000, bytes: 8_000_000 } as const;

/** Texts of inputs that are known to be texts. */
export const textsOf = (inputs: readonly Input[]): string[] =>
  inputs.flatMap((input) => (input.kind === 'text' ? [input.text] : []));

/** Models of the third generation: one vector cut to `dimensions` by the provider, for documents and queries alike. */
export function openAiModel({ baseUrl, key }: OpenAiSettings, row: EmbeddingModelRow): RemoteModel {
  const { upstream: model, dimensions, window } = row;
  return {
    space: { name: row.space, dimensions },
    request: OPENAI_REQUEST,
    input: { tokens: window, bytes: 1_000_000 },
    ask: async (inputs) => ({
      url: `${baseUrl}/embeddings`,
      headers: { authorization: `Bearer ${key}` },
      // Base64 is a third of what the digits are.
      body: { model, input: textsOf(inputs), dimensions, encoding_format: 'base64' },
    }),
    read: readOpenAiAnswer,
  };
}

import type { EmbeddingModelRow } from '../../../contract/vectors/embeddingModels.js';
import { readOpenAiAnswer } from '../remote/openAiAnswer.js';
import type { Input, RemoteModel, Upstream } from '../remote/types.js';

export interface OpenAiSettings {
  /** URL without a trailing slash, e.g. https://api.openai.com/v1. */
  readonly baseUrl: string;
  readonly key: string;
}

export const OPENAI: Upstream = { name: 'OpenAI', credentials: 'OPENAI_API_KEY', address: 'OPENAI_BASE_URL' };

/**
 * OpenAI accepts 2,048 inputs and 300,000 tokens per request (docs: API reference, Create embeddings). Fewer inputs
 * keep responses small, so that parsing one does not block the event loop for long.
 */
export const OPENAI_REQUEST = { inputs: 512, tokens: 300_000, bytes: 8_000_000 } as const;

/** Returns the texts of inputs without pictures. */
export const textsOf = (inputs: readonly Input[]): string[] =>
  inputs.flatMap((input) => (input.kind === 'text' ? [input.text] : []));

/**
 * Creates a model of the third generation: OpenAI cuts vectors to `dimensions`, and documents and queries use the same
 * model.
 */
export function openAiModel({ baseUrl, key }: OpenAiSettings, row: EmbeddingModelRow): RemoteModel {
  const { upstream: model, dimensions, window } = row;
  return {
    space: { name: row.space, dimensions },
    request: OPENAI_REQUEST,
    input: { tokens: window, bytes: 1_000_000 },
    createRequest: async (inputs) => ({
      url: `${baseUrl}/embeddings`,
      headers: { authorization: `Bearer ${key}` },
      // Base64 takes a third of the size of decimal digits.
      body: { model, input: textsOf(inputs), dimensions, encoding_format: 'base64' },
    }),
    read: readOpenAiAnswer,
  };
}

import type { EmbeddingModelId, EmbeddingModelRow } from '../../../contract/vectors/embeddingModels.js';
import { readOpenAiAnswer } from '../remote/openAiAnswer.js';
import type { RemoteModel, Upstream } from '../remote/types.js';
import { OPENAI_REQUEST, textsOf } from './openai.js';

export interface AzureSettings {
  /** URL of the resource without a trailing slash, e.g. https://NAME.openai.azure.com. */
  readonly endpoint: string;
  readonly key: string;
  readonly apiVersion: string;
  /** Name of the deployment by model id. Azure does not serve a model id without one. */
  readonly deployments: Readonly<Partial<Record<EmbeddingModelId, string>>>;
}

export const AZURE: Upstream = {
  name: 'Azure OpenAI',
  credentials: 'AZURE_OPENAI_API_KEY',
  address: 'AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_VERSION or AZURE_OPENAI_DEPLOYMENTS',
};

/** Creates one of OpenAI's models, addressed by its deployment's name; null if the model id has no deployment. */
export function azureModel(
  { endpoint, key, apiVersion }: AzureSettings,
  deployment: string | undefined,
  { space, dimensions, window }: EmbeddingModelRow,
): RemoteModel | null {
  if (deployment === undefined) return null;
  const query = new URLSearchParams({ 'api-version': apiVersion });
  return {
    space: { name: space, dimensions },
    request: OPENAI_REQUEST,
    input: { tokens: window, bytes: 1_000_000 },
    createRequest: async (inputs) => ({
      url: `${endpoint}/openai/deployments/${encodeURIComponent(deployment)}/embeddings?${query.toString()}`,
      headers: { 'api-key': key },
      // A deployment of an older model rejects `dimensions`, so its vectors never get into the space of a newer one.
      body: { input: textsOf(inputs), dimensions, encoding_format: 'base64' },
    }),
    read: readOpenAiAnswer,
  };
}

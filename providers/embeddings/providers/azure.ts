import type { EmbeddingModelId, EmbeddingModelRow } from '../../../contract/embeddingModels.js';
import { readOpenAiAnswer } from '../remote/openAiAnswer.js';
import type { RemoteModel, Upstream } from '../remote/types.js';
import { OPENAI_REQUEST, textsOf } from './openai.js';

export interface AzureSettings {
  /** Of the resource, without a trailing slash, e.g. https://NAME.openai.azure.com. */
  readonly endpoint: string;
  readonly key: string;
  readonly apiVersion: string;
  /** Name of the deployment by model id. A model id without one is not served by Azure. */
  readonly deployments: Readonly<Partial<Record<EmbeddingModelId, string>>>;
}

export const AZURE: Upstream = {
  name: 'Azure OpenAI',
  credentials: 'AZURE_OPENAI_API_KEY',
  address: 'AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_VERSION or AZURE_OPENAI_DEPLOYMENTS',
};

/** The models of OpenAI, reached by the name of a deployment; null where the model id has none. */
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
    ask: async (inputs) => ({
      url: `${endpoint}/openai/deployments/${encodeURIComponent(deployment)}/embeddings?${query.toString()}`,
      headers: { 'api-key': key },
      // A deployment of an older model refuses `dimensions`, so that its vectors never get into the space of a newer one.
      body: { input: textsOf(inputs), dimensions, encoding_format: 'base64' },
    }),
    read: readOpenAiAnswer,
  };
}

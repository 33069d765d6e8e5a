import type { EmbeddingModelRow } from '../../../contract/vectors/embeddingModels.js';
import { readVector } from '../remote/numbers.js';
import { member } from '../../members.js';
import type { Input, RemoteModel, Upstream } from '../remote/types.js';
import type { AccessTokens, GoogleCredentials } from './googleToken.js';

export interface VertexSettings {
  readonly project: string;
  readonly location: string;
  /** URL without a trailing slash; null: Google's URL for the location. */
  readonly baseUrl: string | null;
  readonly credentials: GoogleCredentials;
}

export const VERTEX: Upstream = {
  name: 'Vertex AI',
  credentials: 'VERTEX_CREDENTIALS or VERTEX_ACCESS_TOKEN',
  address: 'VERTEX_PROJECT, VERTEX_LOCATION or VERTEX_BASE_URL',
};

/**
 * Maximum size of a text of one request, in tokens of our tokenizer; a longer text is split. The model silently
 * truncates texts to 32 tokens of its own tokenizer, so the limit is well below that.
 */
const INPUT_TOKENS = 24;
/** Longer texts are rejected ("must be smaller than 1024 characters", which means bytes). */
const INPUT_BYTES = 1_000;
/** Maximum size of a picture in bytes (docs: Get multimodal embeddings, API limits). */
const IMAGE_BYTES = 20_000_000;

const instanceOf = (input: Input): object =>
  input.kind === 'text'
    ? { text: input.text }
    : { image: { bytesBase64Encoded: Buffer.from(input.bytes).toString('base64') } };

/** Creates Google's multimodal model: short texts and pictures in one space, one per request. */
export function vertexModel(settings: VertexSettings, row: EmbeddingModelRow, tokens: AccessTokens): RemoteModel {
  const { project, location } = settings;
  const host = settings.baseUrl ?? `https://${location}-aiplatform.googleapis.com/v1`;
  const path = `projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`;
  return {
    space: { name: row.space, dimensions: row.dimensions },
    request: { inputs: 1, tokens: INPUT_TOKENS, bytes: 2 * IMAGE_BYTES },
    input: { tokens: INPUT_TOKENS, bytes: INPUT_BYTES },
    imageBytes: IMAGE_BYTES,
    createRequest: async (inputs, _purpose, signal) => ({
      url: `${host}/${path}/publishers/google/models/${row.upstream}:predict`,
      headers: { authorization: `Bearer ${await tokens.getToken(signal)}` },
      body: { instances: inputs.map(instanceOf), parameters: { dimension: row.dimensions } },
    }),
    read(answer) {
      const predictions = member(answer, 'predictions');
      if (!Array.isArray(predictions)) throw new Error('no list "predictions"');
      const vectors = (predictions as unknown[]).map((prediction) =>
        readVector(member(prediction, 'textEmbedding') ?? member(prediction, 'imageEmbedding')),
      );
      return { vectors, tokens: null };
    },
    renew: () => tokens.discard(),
  };
}

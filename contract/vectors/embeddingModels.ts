/**
 * The model ids of the public interface, one row each: the provider, its name of the model, and the vector dimensions.
 */

export interface EmbeddingModelRow {
  readonly provider: 'openai' | 'azure' | 'cohere' | 'vertex' | 'solar';
  /** The provider's name of the model. For Azure: the model that the deployment must serve. */
  readonly upstream: string;
  /** Name of the vector space. It never changes. */
  readonly space: string;
  readonly dimensions: number;
  /**
   * Context window in tokens. It does not limit chunk_size: a longer text is cut into parts of this length, and its
   * vector is the mean of their vectors.
   */
  readonly window: number;
}

const SMALL = { upstream: 'text-embedding-3-small', window: 8191 } as const;
const LARGE = { upstream: 'text-embedding-3-large', window: 8191 } as const;

export const EMBEDDING_MODELS = {
  OPENAI: { provider: 'openai', ...SMALL, space: 'openai-3-small-1536', dimensions: 1536 },
  AZURE_OPENAI: { provider: 'azure', ...SMALL, space: 'azure-3-small-1536', dimensions: 1536 },
  AZURE_ADA_LARGE_256: { provider: 'azure', ...LARGE, space: 'azure-3-large-256', dimensions: 256 },
  AZURE_ADA_LARGE_1024: { provider: 'azure', ...LARGE, space: 'azure-3-large-1024', dimensions: 1024 },
  AZURE_ADA_LARGE_3072: { provider: 'azure', ...LARGE, space: 'azure-3-large-3072', dimensions: 3072 },
  AZURE_ADA_SMALL_512: { provider: 'azure', ...SMALL, space: 'azure-3-small-512', dimensions: 512 },
  AZURE_ADA_SMALL_1536: { provider: 'azure', ...SMALL, space: 'azure-3-small-1536', dimensions: 1536 },
  COHERE_MULTILINGUAL_V3: {
    provider: 'cohere',
    upstream: 'embed-multilingual-v3.0',
    space: 'cohere-multilingual-v3-1024',
    dimensions: 1024,
    window: 512,
  },
  VERTEX_MULTIMODAL: {
    provider: 'vertex',
    upstream: 'multimodalembedding@001',
    space: 'vertex-multimodal-001-1408',
    dimensions: 1408,
    window: 32,
  },
  OPENAI_ADA_LARGE_256: { provider: 'openai', ...LARGE, space: 'openai-3-large-256', dimensions: 256 },
  OPENAI_ADA_LARGE_1024: { provider: 'openai', ...LARGE, space: 'openai-3-large-1024', dimensions: 1024 },
  OPENAI_ADA_LARGE_3072: { provider: 'openai', ...LARGE, space: 'openai-3-large-3072', dimensions: 3072 },
  OPENAI_ADA_SMALL_512: { provider: 'openai', ...SMALL, space: 'openai-3-small-512', dimensions: 512 },
  OPENAI_ADA_SMALL_1536: { provider: 'openai', ...SMALL, space: 'openai-3-small-1536', dimensions: 1536 },
  SOLAR_1_MINI: {
    provider: 'solar',
    upstream: 'solar-embedding-1-large',
    space: 'solar-1-large-4096',
    dimensions: 4096,
    window: 4000,
  },
} as const satisfies Record<string, EmbeddingModelRow>;

export type EmbeddingModelId = keyof typeof EMBEDDING_MODELS;
/** The model that embeds pictures and texts, if its provider is configured. */
export const PICTURE_MODEL: EmbeddingModelId = 'VERTEX_MULTIMODAL';
export const EMBEDDING_MODEL_IDS = Object.keys(EMBEDDING_MODELS) as EmbeddingModelId[];
export const DEFAULT_EMBEDDING_MODEL: EmbeddingModelId = 'OPENAI';

/** Vectors of different spaces are never compared; each space has its own Qdrant collection. */
export interface VectorSpace {
  /** Name that never changes, e.g. minilm-l6-v2-384: stored on files and used in point ids. */
  readonly name: string;
  readonly dimensions: number;
}

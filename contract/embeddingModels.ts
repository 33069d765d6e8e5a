/** One row per model id of the public interface: who serves it upstream and how many numbers a vector has. */

export interface EmbeddingModelRow {
  readonly provider: 'openai' | 'azure' | 'cohere' | 'vertex' | 'solar';
  readonly dimensions: number;
}

export const EMBEDDING_MODELS = {
  OPENAI: { provider: 'openai', dimensions: 1536 },
  AZURE_OPENAI: { provider: 'azure', dimensions: 1536 },
  AZURE_ADA_LARGE_256: { provider: 'azure', dimensions: 256 },
  AZURE_ADA_LARGE_1024: { provider: 'azure', dimensions: 1024 },
  AZURE_ADA_LARGE_3072: { provider: 'azure', dimensions: 3072 },
  AZURE_ADA_SMALL_512: { provider: 'azure', dimensions: 512 },
  AZURE_ADA_SMALL_1536: { provider: 'azure', dimensions: 1536 },
  COHERE_MULTILINGUAL_V3: { provider: 'cohere', dimensions: 1024 },
  VERTEX_MULTIMODAL: { provider: 'vertex', dimensions: 1408 },
  OPENAI_ADA_LARGE_256: { provider: 'openai', dimensions: 256 },
  OPENAI_ADA_LARGE_1024: { provider: 'openai', dimensions: 1024 },
  OPENAI_ADA_LARGE_3072: { provider: 'openai', dimensions: 3072 },
  OPENAI_ADA_SMALL_512: { provider: 'openai', dimensions: 512 },
  OPENAI_ADA_SMALL_1536: { provider: 'openai', dimensions: 1536 },
  SOLAR_1_MINI: { provider: 'solar', dimensions: 4096 },
} as const satisfies Record<string, EmbeddingModelRow>;

export type EmbeddingModelId = keyof typeof EMBEDDING_MODELS;
export const EMBEDDING_MODEL_IDS = Object.keys(EMBEDDING_MODELS) as EmbeddingModelId[];
export const DEFAULT_EMBEDDING_MODEL: EmbeddingModelId = 'OPENAI';

/** What computed a vector. Vectors of different spaces are never compared; each has a Qdrant collection of its own. */
export interface VectorSpace {
  /** Stable for ever, e.g. minilm-l6-v2-384: stored on files and used in point ids. */
  readonly name: string;
  readonly dimensions: number;
}

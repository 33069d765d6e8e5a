import { EMBEDDING_MODEL_IDS, EMBEDDING_MODELS } from './embeddingModels.js';

/** The vector space of MiniLM, the model that runs inside this service. */
export const EMBEDDED_SPACE = { name: 'minilm-l6-v2-384', dimensions: 384 };

/** Returns the space of vectors that a caller computed with a model. They are compared only with one another. */
export const callerSpace = (model: string, dimensions: number) => ({
  name: `${CALLER_PREFIX}${model.toLowerCase().replaceAll('_', '-')}-${dimensions}`,
  dimensions,
});
const CALLER_PREFIX = 'given-';
export const isCallerSpace = (name: string): boolean => name.startsWith(CALLER_PREFIX);

/** The names of all vector spaces. */
export const VECTOR_SPACES: ReadonlySet<string> = new Set([
  EMBEDDED_SPACE.name,
  ...EMBEDDING_MODEL_IDS.flatMap((id) => {
    const { space, dimensions } = EMBEDDING_MODELS[id];
    return [space, callerSpace(id, dimensions).name];
  }),
]);

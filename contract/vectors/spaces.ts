import { callerSpace } from '../files/uploads.js';
import { EMBEDDING_MODEL_IDS, EMBEDDING_MODELS } from './embeddingModels.js';

/** The vector space of the embedded model. */
export const EMBEDDED_SPACE = { name: 'minilm-l6-v2-384', dimensions: 384 };

/** The names of all vector spaces. */
export const VECTOR_SPACES: ReadonlySet<string> = new Set([
  EMBEDDED_SPACE.name,
  ...EMBEDDING_MODEL_IDS.flatMap((id) => {
    const { space, dimensions } = EMBEDDING_MODELS[id];
    return [space, callerSpace(id, dimensions).name];
  }),
]);

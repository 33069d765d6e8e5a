import type { LocalModelFiles } from '../../providers/embeddings/providers/localModel.js';
import type { EmbeddingProvider } from '../../providers/embeddings/types.js';
import { loadProduct } from './product.js';

/**
 * The embedded model in one process for all suites of this one: each service would load it anew. It ends with this
 * process; to close it for one service means nothing.
 */
export async function sharedLocalModel({ modelPath, tokenizerPath }: LocalModelFiles): Promise<EmbeddingProvider> {
  const { createLocalProvider, kept } = await loadProduct();
  const known = kept.get('model') as EmbeddingProvider | undefined;
  const model = known ?? createLocalProvider({ modelPath, tokenizerPath, threads: 1 });
  kept.set('model', model);
  return { ...model, close: async () => undefined };
}

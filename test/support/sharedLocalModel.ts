import type { LocalModelFiles } from '../../providers/embeddings/providers/localModel.js';
import type { EmbeddingProvider } from '../../providers/embeddings/types.js';
import { loadProduct } from './product.js';

/**
 * Returns the embedded model, shared by all suites of this process; loading it for each service would be slow. It ends
 * with the process: closing it for one service has no effect.
 */
export async function sharedLocalModel({ modelPath, tokenizerPath }: LocalModelFiles): Promise<EmbeddingProvider> {
  const { createLocalProvider, sharedValues } = await loadProduct();
  const loaded = sharedValues.get('model') as EmbeddingProvider | undefined;
  const model = loaded ?? createLocalProvider({ modelPath, tokenizerPath, threads: 1 });
  sharedValues.set('model', model);
  return { ...model, close: async () => undefined };
}

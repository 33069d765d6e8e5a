import type { LocalModelFiles } from '../../providers/embeddings/providers/localModel.js';
import type { EmbeddingProvider } from '../../providers/embeddings/types.js';
import { loadProduct } from './product.js';

/**
 * Returns the embedded model, which all suites of this process share because loading it is slow. `close` has no effect;
 * the model ends with the process.
 */
export async function sharedLocalModel({ modelPath, tokenizerPath }: LocalModelFiles): Promise<EmbeddingProvider> {
  const { createLocalProvider, keepOpen, sharedValues } = await loadProduct();
  const loaded = sharedValues.get('model') as EmbeddingProvider | undefined;
  const model = loaded ?? keepOpen(createLocalProvider({ modelPath, tokenizerPath, threads: 1 }));
  sharedValues.set('model', model);
  return model;
}

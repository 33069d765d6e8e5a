import { createLocalProvider } from '../../embeddings/providers/local.js';
import type { LocalModelFiles } from '../../embeddings/providers/localModel.js';
import type { EmbeddingProvider } from '../../embeddings/types.js';

declare global {
  /** What stays when a suite of this process is over (environment.cjs). */
  var keptForSuites: Map<string, unknown>;
}

/**
 * The embedded model in one process for all suites of this one: each service would load it anew. It ends with this
 * process; to close it for one service means nothing.
 */
export function sharedLocalModel({ modelPath, tokenizerPath }: LocalModelFiles): EmbeddingProvider {
  const known = globalThis.keptForSuites.get('model') as EmbeddingProvider | undefined;
  const model = known ?? createLocalProvider({ modelPath, tokenizerPath, threads: 1 });
  globalThis.keptForSuites.set('model', model);
  return { ...model, close: async () => undefined };
}

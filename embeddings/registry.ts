import { EMBEDDING_MODEL_IDS, EMBEDDING_MODELS } from '../contract/embeddingModels.js';
import type { EmbeddingModelId, EmbeddingModelRow } from '../contract/embeddingModels.js';
import { Fault } from '../contract/failures.js';
import { guardVectors } from './guardVectors.js';
import { createLocalProvider, type LocalSettings } from './providers/local.js';
import type { EmbeddingProvider, Embeddings } from './types.js';

export interface EmbeddingSettings {
  readonly local: LocalSettings;
}

/** Decides once, at start, which provider serves which model id. */
export function createEmbeddings(settings: EmbeddingSettings): Embeddings {
  const local = guardVectors(createLocalProvider(settings.local));

  /** One line a provider: what serves a model id of its own. The embedded model stands in for all that are not configured. */
  const serving: Record<EmbeddingModelRow['provider'], (model: EmbeddingModelId) => EmbeddingProvider> = {
    openai: () => local,
    azure: () => local,
    cohere: () => local,
    vertex: () => local,
    solar: () => local,
  };
  const providerOf = (model: EmbeddingModelId): EmbeddingProvider => serving[EMBEDDING_MODELS[model].provider](model);

  // The embedded model stays reachable: files that it served before another provider was configured are still searched.
  const bySpace = new Map([local, ...EMBEDDING_MODEL_IDS.map(providerOf)].map((each) => [each.space.name, each]));

  return {
    spaceOf: (model) => providerOf(model).space,
    async embed(space, texts, purpose, signal, party) {
      const provider = bySpace.get(space);
      if (!provider) throw unknownSpace(space, [...bySpace.keys()]);
      return provider.embed(texts, purpose, signal, party);
    },
    async close() {
      await Promise.all([...new Set(bySpace.values())].map((provider) => provider.close()));
    },
  };
}

function unknownSpace(space: string, served: string[]): Fault {
  return new Fault(
    'embedding_failed',
    `Nothing serves the vector space "${space}"; served are: ${served.join(', ')}. ` +
      'Give back the settings of the provider that filled it (EMBEDDING_MODEL_PATH for a model of your own), ' +
      'or sync the files again to move them to a space that is served.',
  );
}

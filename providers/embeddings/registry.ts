import { EMBEDDING_MODEL_IDS, EMBEDDING_MODELS } from '../../contract/vectors/embeddingModels.js';
import type { EmbeddingModelId, EmbeddingModelRow } from '../../contract/vectors/embeddingModels.js';
import { Fault } from '../../contract/failures.js';
import { guardVectors } from './guardVectors.js';
import { AZURE, azureModel, type AzureSettings } from './providers/azure.js';
import { COHERE, cohereModel, type CohereSettings } from './providers/cohere.js';
import { createAccessTokens } from './providers/googleToken.js';
import { LOCAL_MODEL } from './providers/local.js';
import { OPENAI, openAiModel, type OpenAiSettings } from './providers/openai.js';
import { SOLAR, solarModel, type SolarSettings } from './providers/solar.js';
import { VERTEX, vertexModel, type VertexSettings } from './providers/vertex.js';
import { createRemoteKey, type RemoteKey, type RemoteOptions } from './remote/remoteKey.js';
import type { RemoteModel, KeyLimits, Upstream } from './remote/types.js';
import type { EmbeddingProvider, Embeddings, ServedModel } from './types.js';

/** The settings of the five providers; null for one that is not configured. */
export interface ProviderSettings {
  readonly openai: OpenAiSettings | null;
  readonly azure: AzureSettings | null;
  readonly cohere: CohereSettings | null;
  readonly vertex: VertexSettings | null;
  readonly solar: SolarSettings | null;
  readonly keyLimits: KeyLimits;
}

export interface EmbeddingSettings {
  /** The embedded model (`local.ts`). */
  readonly local: EmbeddingProvider;
  /** Absent: the embedded model serves every id. */
  readonly remote?: { readonly providers: ProviderSettings } & Omit<RemoteOptions, 'keyLimits'>;
}

type ProviderId = EmbeddingModelRow['provider'];

/** Returns a function that returns the remote provider of a model id; null if it is not configured. */
function chooseRemote(remote: EmbeddingSettings['remote']) {
  if (!remote) return () => null;
  const { providers, ...options } = remote;
  const { openai, azure, cohere, vertex, solar, keyLimits } = providers;
  const tokens = vertex && createAccessTokens(vertex.credentials, options.egress);
  type Offer = (row: EmbeddingModelRow, id: EmbeddingModelId) => RemoteModel | null;
  /** One line per provider. */
  const offers: Record<ProviderId, { upstream: Upstream; model: Offer }> = {
    openai: { upstream: OPENAI, model: (row) => openai && openAiModel(openai, row) },
    azure: { upstream: AZURE, model: (row, id) => azure && azureModel(azure, azure.deployments[id], row) },
    cohere: { upstream: COHERE, model: (row) => cohere && cohereModel(cohere, row) },
    vertex: { upstream: VERTEX, model: (row) => vertex && tokens && vertexModel(vertex, row, tokens) },
    solar: { upstream: SOLAR, model: (row) => solar && solarModel(solar, row) },
  };
  const keys = new Map<ProviderId, RemoteKey>();
  const bySpace = new Map<string, EmbeddingProvider>();
  return (row: EmbeddingModelRow, id: EmbeddingModelId): EmbeddingProvider | null => {
    const { upstream, model: offer } = offers[row.provider];
    const model = offer(row, id);
    if (!model) return null;
    const key = keys.get(row.provider) ?? createRemoteKey(upstream, { ...options, keyLimits });
    keys.set(row.provider, key);
    // Two ids may mean the same model.
    const provider = bySpace.get(row.space) ?? guardVectors(key.provider(model));
    bySpace.set(row.space, provider);
    return provider;
  };
}

/**
 * Chooses once, at start, the provider of each model id. The embedded model serves all ids without a configured
 * provider.
 */
export function createEmbeddings(settings: EmbeddingSettings): Embeddings {
  const local = guardVectors(settings.local);
  const remoteOf = chooseRemote(settings.remote);
  const served = EMBEDDING_MODEL_IDS.map((id) => serve(id));
  // The embedded model stays reachable, to search files that it embedded before another provider was configured.
  const bySpace = new Map([local, ...served.map(({ provider }) => provider)].map((each) => [each.space.name, each]));

  function serve(id: EmbeddingModelId): { provider: EmbeddingProvider; model: ServedModel } {
    const row: EmbeddingModelRow = EMBEDDING_MODELS[id];
    const provider = remoteOf(row, id);
    const { upstream, window } = provider ? row : LOCAL_MODEL;
    const { space, embedImages } = provider ?? local;
    const described = { model: id, provider: provider ? row.provider : null, upstream, space, window };
    return { provider: provider ?? local, model: { ...described, takesImages: embedImages !== undefined } };
  }

  function providerIn(space: string): EmbeddingProvider {
    const provider = bySpace.get(space);
    if (!provider) throw unknownSpace(space, [...bySpace.keys()]);
    return provider;
  }

  return {
    spaceOf: (model) => served[EMBEDDING_MODEL_IDS.indexOf(model)]?.provider.space ?? local.space,
    prepare: (space) => bySpace.get(space)?.prepare?.(),
    models: () => served.map(({ model }) => model),
    embed: async (space, texts, purpose, signal, fairnessKey) =>
      providerIn(space).embed(texts, purpose, signal, fairnessKey),
    async embedImages(space, images, signal, fairnessKey) {
      const provider = providerIn(space);
      if (!provider.embedImages) throw noImages(space);
      return provider.embedImages(images, signal, fairnessKey);
    },
    async close() {
      await Promise.all([...new Set(bySpace.values())].map((provider) => provider.close()));
    },
  };
}

function noImages(space: string): Fault {
  return new Fault(
    'unsupported_type',
    `The model of the vector space "${space}" takes texts only. Choose VERTEX_MULTIMODAL, with its provider configured, for pictures.`,
  );
}

function unknownSpace(space: string, served: string[]): Fault {
  return new Fault(
    'embedding_failed',
    `No provider serves the vector space "${space}". Served spaces: ${served.join(', ')}. ` +
      'Restore the settings of the provider that filled it (EMBEDDING_MODEL_PATH for a model of your own), ' +
      'or sync the files again to move them to a space that is served.',
  );
}
